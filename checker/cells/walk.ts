import type { Chooser } from '../choosers/chooser.ts'
import type { Executor } from './executor.ts'
import type { WalkEnd } from './task.ts'

/** Executes steps from the present state until `goal` is true. If it is true already, no step is taken. */
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
