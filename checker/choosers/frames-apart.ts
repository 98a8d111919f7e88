import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'
import type { Chooser } from './chooser.ts'

/**
 * In half of the walks, what was written together arrives frame by frame as far as its budget goes, so that others come in
 * between. In the other half it arrives whole, as it mostly does: a long pipeline would else be most of a walk.
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
