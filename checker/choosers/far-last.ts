import { withoutFarTimers } from '../system/far-timers.ts'
import type { Random } from '../system/random.ts'
import type { Chooser } from './chooser.ts'

/**
 * While something else can happen, a far timer may be chosen in one of this many steps. With a smaller number,
 * executions would be full of expired time-outs that expire nowhere else; with a larger one, a bug behind one would not
 * be found.
 */
const oneStepIn = 64

/** Leaves timers that are far beyond all others to the last, without excluding them: see `withoutFarTimers`. */
export const farLast =
  (random: Random, choose: Chooser): Chooser =>
  enabled => {
    const near = withoutFarTimers(enabled)
    if (near === enabled || random.below(oneStepIn) === 0) return choose(enabled)
    return choose(near) ?? choose(enabled)
  }
