import type { Executor } from './executor.ts'
import type { Random } from './random.ts'
import { follow } from './schedule.ts'
import { walk } from './walk.ts'
import { type Policy, straight, swarm, type Weights, weighted, withoutFaults } from './weights.ts'

export interface RecoveryOptions {
  /** The liveness property. */
  readonly property: string
  /** How many walks are tried, and the steps of each at most. */
  readonly walks: number
  readonly walkLength: number
  readonly weights: Weights
  readonly random: Random
}

export interface Recovery {
  /** A schedule that begins with the one given and ends in a live state, where one was found. */
  readonly live: readonly string[] | undefined
  /** Walks that ended because no choice but faults was left: they could not have recovered by going on. */
  readonly terminal: number
}

/**
 * Tries to reach a live state from the end of a schedule (`Recovers` of MaceMC, algorithm 3); it is enough that one walk
 * does. The walks take no faults. The first goes the straight way, which recovers soonest in most systems, the others
 * are weighted, each second one with weights of its own.
 *
 * A state from which a walk recovers with probability p is taken for dead with probability (1-p)^walks.
 */
export const recover = async <State>(
  executor: Executor<State>,
  schedule: readonly string[],
  { property, walks, walkLength, weights, random }: RecoveryOptions,
): Promise<Recovery> => {
  let terminal = 0
  for (let i = 0; i < walks; i++) {
    await executor.reset()
    await follow(executor, schedule)
    const end = await walk(executor, recovering(i, random.fork(), weights), walkLength, () => executor.isLive(property))
    if (end === 'goal') return { live: executor.labels(), terminal }
    if (end === 'terminal' && !executor.broken) terminal += 1
  }
  return { live: undefined, terminal }
}

const recovering = (i: number, random: Random, weights: Weights): Policy => {
  if (i === 0) return straight(random, weights)
  return weighted(random, withoutFaults(i % 2 === 0 ? swarm(random, weights) : weights))
}
