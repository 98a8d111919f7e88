import { withoutOrdinals } from '../labels.ts'
import type { Choice } from '../system.ts'
import type { Again, Chooser } from './chooser.ts'

/** The same steps from another way to the same state; ends where one of them is not enabled. */
export const again = (steps: readonly Again[]): Chooser => {
  let index = 0
  return enabled => {
    const step = steps[index]
    index += 1
    return step && alike(enabled, withoutOrdinals(step.label))[step.rank]
  }
}

/** How a step can be found again where messages are counted otherwise. */
export const againOf = (label: string, enabled: readonly Pick<Choice, 'label'>[]): Again => ({
  label,
  rank: Math.max(
    0,
    alike(enabled, withoutOrdinals(label)).findIndex(each => each.label === label),
  ),
})

const alike = <Labelled extends { readonly label: string }>(enabled: readonly Labelled[], label: string): Labelled[] =>
  enabled.filter(each => withoutOrdinals(each.label) === label)
