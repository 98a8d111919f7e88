import type { Chooser, Walk } from '../choosers/chooser.ts'
import type { Executor } from './executor.ts'
import type { WalkEnd } from './task.ts'

/**
 * Executes steps from the present state until `goal` is true. If it is true already, no step is taken.
 *
 * @param options see `Walk`; `until` is when it ends as if it were long enough, by `performance.now()`
 */
export const walk = async <State>(
  executor: Executor<State>,
  chooser: Chooser,
  length: number,
  goal: () => boolean,
  {
    settlesFrom = Number.POSITIVE_INFINITY,
    callsMax = 0,
    until = Number.POSITIVE_INFINITY,
  }: Pick<Walk, 'settlesFrom' | 'callsMax'> & { readonly until?: number } = {},
): Promise<WalkEnd> => {
  const begin = executor.schedule.length
  let looked = settlesFrom
  for (let steps = 0; !goal(); steps++) {
    if (steps >= length && !(steps < callsMax && executor.hasCalls)) return 'length'
    if (performance.now() > until) return 'length'
    if (steps === looked) {
      if (settles(executor.fingerprints.slice(begin))) return 'length'
      looked *= 2
    }
    const choice = chooser(executor.enabled())
    if (!choice) return 'terminal'
    await executor.execute(choice)
  }
  return 'goal'
}

/**
 * If not more than this share of states is new, they are new combinations of what was met before: after something that
 * lasts, such as a new term, every state is new. With a smaller share, walks of many nodes would never settle; with a larger
 * one, more would be overlooked that happens for the first time near the end of a walk.
 */
const newShareMax = 1 / 4

/** Whether few states of the second half are not in the first. */
const settles = (states: readonly (string | undefined)[]): boolean => {
  const half = Math.ceil(states.length / 2)
  const first = new Set(states.slice(0, half))
  const second = states.slice(half)
  return second.filter(state => state === undefined || !first.has(state)).length <= newShareMax * second.length
}
