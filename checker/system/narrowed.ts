import { fewerThan, preemptionIn, preemptionLabel } from '../happening/preemptions.ts'
import { numbersApart } from './labels.ts'
import type { Choice } from './system.ts'

/**
 * The choice of a label that is too specific to be listed: a preemption at fewer calls than a search draws. It may be
 * taken wherever a preemption of the same node is enabled.
 *
 * @returns undefined for any other label, or if no preemption of that node is enabled
 */
export const narrowed = (enabled: readonly Choice[], label: string): Choice | undefined => {
  const preemption = preemptionIn(label)
  if (preemption === undefined) return undefined
  const wider = enabled.find(({ kind, node }) => kind === 'preempt' && node === preemption.node)
  return wider && { ...wider, label, ...numbersApart(label) }
}

/** Preemptions at fewer calls than this choice; none for other kinds. */
export const narrowerThan = (choice: Choice): Choice[] => {
  const preemption = preemptionIn(choice.label)
  if (preemption === undefined) return []
  return fewerThan(preemption).map(each => {
    const label = preemptionLabel(preemption.node, each)
    return { ...choice, label, ...numbersApart(label) }
  })
}
