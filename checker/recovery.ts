import type { Executor } from './executor.ts'
import type { Random } from './random.ts'
import { reach, repeat } from './schedule.ts'
import { walk } from './walk.ts'
import { fresh, type Policy, straight, swarm, type Weights, weighted, withoutFaults } from './weights.ts'

/**
 * Walks that must fail before a state is called dead, where nobody says how many (MaceMC: with 60 the
 * critical transition was never off, with 20 by two steps at most).
 */
export const defaultWalks = 60

const scoutsMax = 8

/**
 * How many walks must fail before a state is believed dead for the time being. Where a state was believed so and then
 * recovered in its n-th walk, others may be like it: it takes twice as many from then on, but not too many, for what comes
 * of it is tested with all.
 */
export class Scouts {
  count = 2

  /** @param n the walk that recovered, counted from 1 */
  learn(n: number): void {
    this.count = Math.max(this.count, Math.min(2 * n, scoutsMax))
  }
}

export interface RecoveryOptions {
  /** The liveness property. */
  readonly property: string
  /** How many walks are tried, and the steps of each at most; some shorter ones come before. */
  readonly walks: number
  readonly walkLength: number
  /** A live state counts only after so many steps; 0 by default. */
  readonly stepsMin?: number
  readonly weights: Weights
  readonly random: Random
  /** Are told which walk recovered. */
  readonly scouts?: Scouts
}

export interface Recovery {
  /** A schedule that begins with the one given and ends in a live state, where one was found. */
  readonly live: readonly string[] | undefined
  /** Whether every walk ended because no choice but faults was left: going on could not have helped. */
  readonly isTerminal: boolean
}

/**
 * Tries to reach a live state from the end of a schedule (`Recovers` of MaceMC, algorithm 3); it is enough that one walk
 * does. The walks take no faults: a fault that might still happen must not be what keeps a system from living. The
 * first goes the straight way, which recovers soonest in most systems, the second the same but for the messages in flight,
 * the others are weighted, each second one with weights of its own.
 *
 * A state from which a walk recovers with probability p is taken for dead with probability (1-p)^walks.
 */
export const recover = async <State>(
  executor: Executor<State>,
  schedule: readonly string[],
  { property, walks, walkLength, stepsMin = 0, weights, random, scouts }: RecoveryOptions,
): Promise<Recovery> => {
  const isLive = () => executor.isLive(property) && executor.schedule.length >= schedule.length + stepsMin
  let isTerminal = true
  for (const [index, { ordinal, length, isShort }] of plannedWalks(walks, walkLength, schedule.length).entries()) {
    if (index === 0) await reach(executor, schedule)
    else await repeat(executor, schedule)
    const end = await walk(executor, recovering(ordinal, random.fork(), weights), length, isLive)
    if (end === 'goal') {
      if (!isShort) scouts?.learn(ordinal + 1)
      return { live: executor.labels(), isTerminal: false }
    }
    const isOver = end === 'terminal' && !executor.broken
    // Nothing can happen, whatever the walk.
    if (isOver && executor.schedule.length === schedule.length) return { live: undefined, isTerminal: true }
    if (!isShort) isTerminal &&= isOver
  }
  return { live: undefined, isTerminal }
}

interface PlannedWalk {
  /** Among those of its length, counted from 0. */
  readonly ordinal: number
  readonly length: number
  readonly isShort: boolean
}

const shortCount = 8
const shortFactor = 8
/** What a start of real processes costs, as steps. */
const startSteps = 64

/**
 * What recovers mostly recovers soon: some short walks show it, for the price of one that goes its whole length. They have
 * to be worth the way to where they begin.
 */
const plannedWalks = (count: number, walkLength: number, wayLength: number): PlannedWalk[] => {
  const long = alike(count, { length: walkLength, isShort: false })
  const length = Math.ceil(walkLength / shortFactor)
  const isWorth = length >= (startSteps + wayLength) / 2
  return isWorth ? [...alike(shortCount, { length, isShort: true }), ...long] : long
}

const alike = (count: number, walk: Omit<PlannedWalk, 'ordinal'>): PlannedWalk[] =>
  Array.from({ length: count }, (_, ordinal) => ({ ...walk, ordinal }))

const recovering = (i: number, random: Random, weights: Weights): Policy => {
  if (i === 0) return straight(random, weights)
  if (i === 1) return fresh(random, weights)
  return weighted(random, withoutFaults(i % 2 === 0 ? swarm(random, weights) : weights))
}
