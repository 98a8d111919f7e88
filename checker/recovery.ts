import type { Cells } from './cells.ts'
import { labelsOf } from './labels.ts'
import type { Random } from './random.ts'
import type { Choice } from './system.ts'
import type { Manner, Outcome, Task } from './task.ts'

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
  /** Whether labels of the schedule that are not enabled are left out. */
  readonly isLenient?: boolean
  readonly random: Random
}

export interface Recovery {
  /** A schedule that begins with the one given and ends in a live state, where one was found. */
  readonly live: readonly string[] | undefined
  /** Which of the walks of full length found it, counted from 1. */
  readonly walk: number | undefined
  /** Whether every walk ended because no choice but faults was left: going on could not have helped. */
  readonly isTerminal: boolean
  /** Where the walks began: what was executed of the schedule, and the last step of it after which the property held. */
  readonly begin: Begin
}

export interface Begin {
  readonly schedule: readonly Choice[]
  readonly fingerprints: readonly (string | undefined)[]
  readonly lastLive: number | undefined
  readonly broken: boolean
}

/**
 * Tries to reach a live state from the end of a schedule (`Recovers` of MaceMC, algorithm 3); it is enough that one walk
 * does. The walks take no faults: a fault that might still happen must not be what keeps a system from living. The
 * first goes the straight way, which recovers soonest in most systems, the second the same but for the messages in flight,
 * the others are weighted, each second one with weights of its own.
 *
 * A state from which a walk recovers with probability p is taken for dead with probability (1-p)^walks.
 */
export const recover = async (
  cells: Cells,
  schedule: readonly string[],
  { walks, walkLength, random, ...options }: RecoveryOptions,
): Promise<Recovery> => {
  const planned = plannedWalks(walks, walkLength, schedule.length).values()
  const seeds = random.fork()
  const outcomes = cells.inOrder(
    () => planned.next().value,
    (walk, cells) => cells.run(taskOf(schedule, walk, { ...options, seed: seeds.seed() })),
  )
  const none = { live: undefined, walk: undefined }
  let begin: Begin | undefined
  let isTerminal = true
  for await (const [{ ordinal, isShort }, outcome] of outcomes) {
    begin ??= beginOf(outcome, options.property)
    const { toLive, broken } = outcome
    if (toLive?.end === 'goal') {
      return { live: labelsOf(outcome.schedule), walk: isShort ? undefined : ordinal + 1, isTerminal: false, begin }
    }
    const isOver = toLive?.end === 'terminal' && !broken
    // Nothing can happen, whatever the walk.
    if (isOver && outcome.schedule.length === outcome.arrival.steps) return { ...none, isTerminal: true, begin }
    if (!isShort) isTerminal &&= isOver
  }
  return { ...none, isTerminal, begin: begin! }
}

const taskOf = (
  labels: readonly string[],
  { ordinal, length }: PlannedWalk,
  {
    property,
    stepsMin,
    isLenient,
    seed,
  }: Pick<RecoveryOptions, 'property' | 'stepsMin' | 'isLenient'> & { seed: number },
): Task => ({
  labels,
  ...(isLenient && { isLenient }),
  untilLive: {
    properties: [property],
    ...(stepsMin && { stepsMin }),
    legs: [{ manner: mannerOf(ordinal), seed, length }],
  },
})

const mannerOf = (ordinal: number): Manner => {
  if (ordinal === 0) return 'straight'
  if (ordinal === 1) return 'fresh'
  return ordinal % 2 === 0 ? 'fair swarm' : 'fair'
}

const beginOf = ({ schedule, fingerprints, lastLive, arrival }: Outcome, property: string): Begin => {
  const last = lastLive.get(property)
  return {
    schedule: schedule.slice(0, arrival.steps),
    fingerprints: fingerprints.slice(0, arrival.steps + 1),
    lastLive: last !== undefined && last <= arrival.steps ? last : undefined,
    broken: arrival.broken,
  }
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
