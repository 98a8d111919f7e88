import type { Chooser } from '../choosers/chooser.ts'
import type { Executor } from './executor.ts'
import type { WalkEnd } from './task.ts'

/** Goes on from the present state, step by step, until `goal`; a goal that is met already takes no step. */
export const walk = async <State>(
  executor: Executor<State>,
  chooser: Chooser,
  length: number,
  goal: () => boolean,
): Promise<WalkEnd> => {
  for (let steps = 0; !goal(); steps++) {
    if (steps === length) return 'length'
    const choice = chooser(executor.enabled())
    if (!choice) return 'terminal'
    await executor.execute(choice)
  }
  return 'goal'
}
