import { saidBy } from '../likeness.ts'
import type { Choice } from '../system.ts'
import type { Again, Chooser } from './chooser.ts'

/** The same steps from another way to the same state; ends where one of them is not enabled. */
export const again = (steps: readonly Again[]): Chooser => {
  let index = 0
  return enabled => {
    const step = steps[index]
    index += 1
    return step && saying(enabled, step.said)[step.rank]
  }
}

/** How a step can be found again where messages are counted otherwise. */
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
