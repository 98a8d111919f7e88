import { Random } from '../system/random.ts'
import { again } from './again.ts'
import type { Chooser, Walk } from './chooser.ts'
import { conversations } from './conversations.ts'
import { farLast } from './far-last.ts'
import { healthy, prompt } from './healthy.ts'
import { inTimeChooser } from './in-time.ts'
import { interrupted } from './interrupted.ts'
import { longPauses } from './long-pauses.ts'
import { longWaits } from './long-waits.ts'
import { prioritised } from './priorities.ts'
import { racing } from './race.ts'
import { SlowWays } from './slow-ways.ts'
import type { Surprises } from './surprise.ts'
import { fresh, straight, swarm, type Weights, weighted, withoutFaults } from './weights.ts'

/** Share of the links between nodes that are slow in a late race. */
const slowShares = [0, 0.25, 0.5] as const

const exploring = (random: Random, choose: Chooser): Chooser => longPauses(random, farLast(random, choose))

/**
 * The chooser of a walk. The same seed on the same system gives the same walk. Walks that explore leave far timers to the
 * last; those that look for recovery do not.
 */
export const chooserOf = ({ chooser, seed, length, steps }: Walk, weights: Weights, surprises: Surprises): Chooser => {
  const random = new Random(seed)
  switch (chooser) {
    case 'straight':
      return straight(random, weights)
    case 'prompt':
      return prompt(random)
    case 'fresh':
      return fresh(random, weights)
    case 'healthy':
      return healthy(random, seed)
    case 'conversations':
      return farLast(random, conversations(seed))
    case 'fair':
      return weighted(random, withoutFaults(weights))
    case 'swarm':
      return exploring(random, weighted(random, swarm(random, weights)))
    case 'fair swarm':
      return weighted(random, withoutFaults(swarm(random, weights)))
    case 'race':
      return exploring(random, racing(random, weights, surprises))
    case 'priorities':
      return exploring(random, prioritised(random, length))
    case 'late race':
      return exploring(random, racing(random, weights, surprises, new SlowWays(random, random.pick(slowShares))))
    case 'long waits':
      return exploring(random, longWaits(random, weights))
    case 'interrupted':
      return farLast(random, interrupted(random, weights))
    case 'in time':
      return inTimeChooser(random)
    case 'again':
      return again(steps ?? [])
  }
}
