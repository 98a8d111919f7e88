import type { Random } from '../system/random.ts'
import type { Chooser } from './chooser.ts'

/**
 * How many timers of others fire while a node is paused. What a pause breaks is mostly over by then, such as a lease: of
 * every other pause, the end is left to the walk, which ends most of them at once.
 */
const timersOfOthers = [0, 0, 0, 3, 6, 12] as const

/** Pauses of nodes that last while others go on. Without a paused node, it chooses as without this. */
export const longPauses = (random: Random, choose: Chooser): Chooser => {
  let left: number | undefined
  return enabled => {
    if (!enabled.some(({ kind }) => kind === 'resume')) {
      left = undefined
      return choose(enabled)
    }
    left ??= random.pick(timersOfOthers)
    const others = left > 0 ? enabled.filter(({ kind }) => kind !== 'resume') : enabled
    const choice = choose(others) ?? choose(enabled)
    if (choice?.kind === 'timer') left -= 1
    return choice
  }
}
