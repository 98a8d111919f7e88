import { fewerThan, preemptionIn, preemptionLabel } from '../happening/preemptions.ts'
import { numbersApart } from './labels.ts'
import type { Choice } from './system.ts'

/**
 * A choice that is not listed, because it is one of very many, but may be taken where a wider one is: a preemption at fewer
 * calls than those that a search draws.
 *
 * @returns undefined for any other label, or if no preemption of that node is enabled
 */
export const narrowed = (enabled: readonly Choice[], label: string): Choice | undefined => {
  const preemption = preemptionIn(label)
  if (preemption === undefined) return undefined
  const wider = enabled.find(({ kind, node }) => kind === 'preempt' && node === preemption.node)
  return wider && { ...wider, label, ...numbersApart(label) }
}

/** The choices that are narrower than this one, if it is a preemption. */
export const narrowerThan = (choice: Choice): Choice[] => {
  const preemption = preemptionIn(choice.label)
  if (preemption === undefined) return []
  return fewerThan(preemption).map(each => {
    const label = preemptionLabel(preemption.node, each)
    return { ...choice, label, ...numbersApart(label) }
  })
}
