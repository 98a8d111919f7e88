import type { Executor } from './executor.ts'
import type { Policy } from './weights.ts'

/** Why a walk ended: its goal was reached, its length was, or the policy found nothing to take. */
export type WalkEnd = 'goal' | 'length' | 'terminal'

/** Goes on from the present state, step by step, until `goal`; a goal that is met already takes no step. */
export const walk = async <State>(
  executor: Executor<State>,
  policy: Policy,
  length: number,
  goal: () => boolean,
): Promise<WalkEnd> => {
  for (let steps = 0; !goal(); steps++) {
    if (steps === length) return 'length'
    const choice = policy(executor.enabled())
    if (!choice) return 'terminal'
    await executor.execute(choice)
  }
  return 'goal'
}
