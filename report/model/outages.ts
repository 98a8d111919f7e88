import { cutBy, isHealedBy } from '../../checker/labels.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'

/** From a step to another, or to the end of the execution. */
export interface Span {
  readonly from: number
  readonly to: number | undefined
}

/** A node that is down. */
export interface Outage extends Span {
  readonly node: string
}

/** Nodes that cannot reach each other. */
export interface Partition extends Span {
  /** As its choice is called. */
  readonly label: string
}

/** When which nodes were down: crashed by choice, ended of themselves, or not there yet. */
export const outagesOf = (steps: readonly RecordedStep[]): Outage[] =>
  steps[0]?.lives === undefined ? outagesByChoices(steps) : outagesByLives(steps)

const outagesByLives = (steps: readonly RecordedStep[]): Outage[] => {
  const down = new Map<string, number>()
  const outages: Outage[] = []
  for (const { index, lives = [] } of steps)
    for (const { node, isAlive } of lives) {
      const from = down.get(node)
      if (!isAlive) down.set(node, index)
      else if (from !== undefined && down.delete(node)) outages.push({ node, from, to: index })
    }
  return [...outages, ...Array.from(down, ([node, from]) => ({ node, from, to: undefined }))]
}

/** In an older trace, which does not tell who was up. */
const outagesByChoices = (steps: readonly RecordedStep[]): Outage[] => {
  const down = new Map<string, number>()
  const outages: Outage[] = []
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

/** When which ways were cut: from each partition to the next healing, which ends all, or one way of a run at the pace native. */
export const partitionsOf = (steps: readonly RecordedStep[]): Partition[] => {
  let open: { readonly from: number; readonly label: string; readonly cut: string }[] = []
  const partitions: Partition[] = []
  for (const { index, choice } of steps) {
    const cut = choice?.kind === 'partition' ? cutBy(choice.label) : undefined
    if (choice && cut !== undefined) open.push({ from: index, label: choice.label, cut })
    if (choice?.kind !== 'heal') continue
    const isOver = (cut: string) => isHealedBy(choice.label, cut)
    partitions.push(...open.flatMap(({ from, label, cut }) => (isOver(cut) ? [{ label, from, to: index }] : [])))
    open = open.filter(({ cut }) => !isOver(cut))
  }
  return [...partitions, ...open.map(({ from, label }) => ({ label, from, to: undefined }))]
}
