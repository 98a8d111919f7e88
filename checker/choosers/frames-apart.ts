import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'
import type { Chooser } from './chooser.ts'

/**
 * In half of the walks, frames that were written together arrive one by one, within the budget, so that other messages
 * come in between. In the other half they arrive together: otherwise a long pipeline would take most of a walk.
 *
 * @param deliver chooses among messages in flight
 * @returns a chooser among `deliveries` that may take the first frame alone, if that is enabled
 */
export const maybeApart = (
  random: Random,
  deliver: Chooser,
): ((deliveries: readonly Choice[], enabled: readonly Choice[]) => Choice | undefined) => {
  const isApart = random.below(2) === 0
  return (deliveries, enabled) => {
    const whole = deliver(deliveries)
    return (isApart && whole && firstFrameOf(whole, enabled)) || whole
  }
}

const firstFrameOf = ({ label }: Choice, enabled: readonly Choice[]): Choice | undefined =>
  enabled.find(({ kind, whole }) => kind === 'divide' && whole?.label === label)
