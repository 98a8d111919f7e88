import { cutsBy, isHealedBy } from '../../checker/happening/ways.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'

/** From one step to another, or to the end of the execution. */
export interface Span {
  readonly from: number
  readonly to: number | undefined
}

/** A time during which a node is down. */
export interface OutageSpan extends Span {
  readonly node: string
}

/** A time during which nodes cannot reach each other. */
export interface PartitionSpan extends Span {
  /** Label of the choice that began it. */
  readonly label: string
}

/** When each node was down: before its start, after a crash by choice, or after its process ended by itself. */
export const outagesOf = (steps: readonly RecordedStep[]): OutageSpan[] =>
  steps[0]?.lives === undefined ? outagesByChoices(steps) : outagesByLives(steps)

const outagesByLives = (steps: readonly RecordedStep[]): OutageSpan[] => {
  const down = new Map<string, number>()
  const outages: OutageSpan[] = []
  for (const { index, lives = [] } of steps)
    for (const { node, isAlive } of lives) {
      const from = down.get(node)
      if (!isAlive) down.set(node, index)
      else if (from !== undefined && down.delete(node)) outages.push({ node, from, to: index })
    }
  return [...outages, ...Array.from(down, ([node, from]) => ({ node, from, to: undefined }))]
}

/** For an older trace, which does not record which nodes were up. */
const outagesByChoices = (steps: readonly RecordedStep[]): OutageSpan[] => {
  const down = new Map<string, number>()
  const outages: OutageSpan[] = []
  for (const { index, choice, findings } of steps) {
    if (choice?.kind === 'restart') {
      outages.push({ node: choice.node, from: down.get(choice.node) ?? 0, to: index })
      down.delete(choice.node)
    }
    if (choice?.kind === 'crash') down.set(choice.node, index)
    for (const { kind, node } of findings) if (kind === 'crash') down.set(node, index)
  }
  return [...outages, ...Array.from(down, ([node, from]) => ({ node, from, to: undefined }))]
}

/** When nodes or links were cut off: each until it is joined again, or until the next healing of all. */
export const partitionsOf = (steps: readonly RecordedStep[]): PartitionSpan[] => {
  let open: { readonly from: number; readonly label: string; readonly cut: string }[] = []
  const partitions: PartitionSpan[] = []
  for (const { index, choice } of steps) {
    if (choice === undefined) continue
    const { label } = choice
    const isOver = ({ cut }: { readonly cut: string }) => isHealedBy(label, cut)
    partitions.push(...open.filter(isOver).map(({ label, from }) => ({ label, from, to: index })))
    open = [...open.filter(each => !isOver(each)), ...cutsBy(label).map(cut => ({ from: index, label, cut }))]
  }
  return [...partitions, ...open.map(({ from, label }) => ({ label, from, to: undefined }))]
}
