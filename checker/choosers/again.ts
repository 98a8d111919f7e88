import { saidBy } from '../system/likeness.ts'
import type { Choice } from '../system/system.ts'
import type { Again, Chooser } from './chooser.ts'

/** Repeats steps on another path to the same state. Ends when one of them is not enabled. */
export const again = (steps: readonly Again[]): Chooser => {
  let index = 0
  return enabled => {
    const step = steps[index]
    index += 1
    return step && saying(enabled, step.said)[step.rank]
  }
}

/** Describes a step so that it can be found again in an execution that numbers its messages differently. */
export const againOf = (choice: Choice, enabled: readonly Choice[]): Again => {
  const said = saidBy(choice)
  return {
    said,
    rank: Math.max(
      0,
      saying(enabled, said).findIndex(({ label }) => label === choice.label),
    ),
  }
}

const saying = (enabled: readonly Choice[], said: string): Choice[] => enabled.filter(each => saidBy(each) === said)
