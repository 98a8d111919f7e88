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

/** When which nodes were down: crashed by choice, or ended of themselves. */
export const outagesOf = (steps: readonly RecordedStep[]): Outage[] => {
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

/** In a live run a way may also be given a loss or a delay: then it is not cut. */
const isCut = (label: string) => /^(partition|cut) |→\S+ cut/.test(label)

/** When which ways were cut: from each partition to the next healing, which ends all. */
export const partitionsOf = (steps: readonly RecordedStep[]): Partition[] => {
  let open: { readonly from: number; readonly label: string }[] = []
  const partitions: Partition[] = []
  for (const { index, choice } of steps) {
    if (choice?.kind === 'partition' && isCut(choice.label)) open.push({ from: index, label: choice.label })
    if (choice?.kind !== 'heal') continue
    const isOver = (cut: string) => choice.label === 'heal' || cut === choice.label.replace(/ joined.*$/, ' cut')
    partitions.push(...open.filter(({ label }) => isOver(label)).map(each => ({ ...each, to: index })))
    open = open.filter(({ label }) => !isOver(label))
  }
  return [...partitions, ...open.map(each => ({ ...each, to: undefined }))]
}
