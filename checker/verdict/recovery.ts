import type { Cells } from '../cells/cells.ts'
import type { Arrival, Task, TaskOutcome } from '../cells/task.ts'
import type { ChooserName, Walk } from '../choosers/chooser.ts'
import { healthySeed } from '../choosers/healthy.ts'
import { Diverged, Unfaithful } from '../errors.ts'
import { labelsOf } from '../labels.ts'
import type { Random } from '../random.ts'
import { startAfter, startAsOffered } from '../start.ts'
import type { Choice } from '../system.ts'

/**
 * Walks that must fail before a state is called dead, where nobody says how many (MaceMC: with 60 the
 * critical transition was never off, with 20 by two steps at most).
 */
export const defaultWalks = 60

const scoutsMax = 8
const followedMax = 2

/**
 * How many walks must fail before a state is believed dead for the time being. Where a state was believed so and then
 * recovered in its n-th walk, others may be like it: it takes twice as many from then on, but not too many, for what comes
 * of it is tested with all.
 */
export class Scouts {
  count = 2
  /** What recovered where others did not: tried first from then on. */
  walks: readonly Walk[] = []

  /** @param n the walk that recovered, counted from 1 */
  learn(n: number): void {
    this.count = Math.max(this.count, Math.min(2 * n, scoutsMax))
  }

  /** @param walk that recovered though many others did not */
  follow(walk: Walk): void {
    const others = this.walks.filter(each => each.chooser !== walk.chooser || each.seed !== walk.seed)
    this.walks = [walk, ...others].slice(0, followedMax)
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
  /** By which choosers they go, in turn; without it by all that may recover, as told at `recover`. */
  readonly choosers?: readonly ChooserName[] | undefined
  /** Whether labels of the schedule that are not enabled are left out. */
  readonly isLenient?: boolean
  /** Tried before the others. */
  readonly first?: readonly Walk[] | undefined
  readonly random: Random
}

export interface Recovery {
  /** A schedule that begins with the one given and ends in a live state, where one was found. */
  readonly live: readonly string[] | undefined
  /** Which of the walks of full length found it, counted from 1, and how that went. */
  readonly walk: number | undefined
  readonly by: Walk | undefined
  /** Whether every walk ended because no choice but faults was left: going on could not have helped. */
  readonly isTerminal: boolean
  /** Where the walks began: what was executed of the schedule, and the last step of it after which the property held. */
  readonly begin: Begin
  /** Walks of full length that failed. One that ended by a crash says nothing, and is none of them. */
  readonly failed: number
  /** How many of these were walks of a healthy network, and how many one conversation after the other. */
  readonly healthy: number
  readonly conversing: number
  /** The most steps that one of them took. */
  readonly longest: number
  /** Whether each of these came, in its second half, to no state that it had not come to in its first. */
  readonly isSettled: boolean
  /** Steps that the walks took, all together, with what their starts cost. */
  readonly effort: number
  /** An execution that met a violation instead, or a crash or divergence that counts as one. */
  readonly met: TaskOutcome | undefined
}

export interface Begin {
  readonly schedule: readonly Choice[]
  readonly fingerprints: readonly (string | undefined)[]
  readonly lastLive: number | undefined
  readonly broken: boolean
  readonly arrival: Pick<Arrival, 'offered'>
}

/**
 * Tries to reach a live state from the end of a schedule (`Recovers` of MaceMC, algorithm 3); it is enough that one walk
 * does. The walks take no faults: a fault that might still happen must not be what keeps a system from living. The
 * first and each third go as in a healthy network, for what recovers in life recovers there; each sixth goes one conversation
 * after the other; one leaves the messages in flight to the end, one goes the straight way, and the rest are weighted, some
 * of them with weights of their own.
 *
 * A state from which a walk recovers with probability p is taken for dead with probability (1-p)^walks.
 */
export const recover = async (
  cells: Cells,
  schedule: readonly string[],
  { walks, walkLength, choosers, random, first = [], ...options }: RecoveryOptions,
): Promise<Recovery> => {
  const length = Math.ceil(walkLength / shortFactor)
  const isWorth = !choosers && walks > 1 && length >= (startSteps + schedule.length) / 2
  const planned = new Planned(walks, walkLength, [
    ...first.map(given => ({ ordinal: 0, length: walkLength, isShort: true, given })),
    ...Array.from({ length: isWorth ? shortCount : 0 }, (_, ordinal) => ({ ordinal, length, isShort: true })),
  ])
  const seeds = random.fork()
  const mannerFor = choosers ? manneredBy(choosers) : mannerOf
  const outcomes = cells.inOrder(
    () => planned.next(),
    async (planned, cells) => {
      const walk = walkOf(planned, mannerFor(planned.ordinal), seeds.seed())
      return { walk, outcome: await tryFaithfully(cells, taskOf(schedule, walk, options)) }
    },
  )
  const none = { live: undefined, walk: undefined, by: undefined, met: undefined }
  let begin: Begin | undefined
  let disturbed: Unfaithful | undefined
  let isTerminal = true
  let [failed, healthy, conversing, longest, effort] = [0, 0, 0, 0, 0]
  let isSettled = true
  for await (const [{ ordinal, isShort }, { walk, outcome }] of outcomes) {
    if (outcome instanceof Unfaithful) {
      disturbed ??= outcome
      isTerminal = false
      if (!isShort) planned.another()
      continue
    }
    begin ??= beginOf(outcome, options.property)
    const { toLive, broken, violation } = outcome
    const steps = outcome.schedule.length - outcome.arrival.steps
    effort += startSteps + steps
    const counts = { failed, healthy, conversing, longest, effort, isSettled }
    if (violation) return { ...none, ...counts, isTerminal: false, begin, met: outcome }
    if (toLive?.end === 'goal') {
      const live = labelsOf(outcome.schedule)
      const number = isShort ? undefined : ordinal + 1
      return { ...none, ...counts, live, walk: number, by: walk, isTerminal: false, begin }
    }
    if (broken) {
      // A crash that is no violation: nothing is known of what would have come.
      isTerminal = false
      if (outcome.arrival.broken) return { ...none, ...counts, isTerminal, begin }
      if (!isShort) planned.another()
      continue
    }
    const isOver = toLive?.end === 'terminal'
    // Nothing can happen, whatever the walk.
    if (isOver && steps === 0) return { ...none, ...counts, isTerminal: true, begin }
    if (isShort) continue
    isTerminal &&= isOver
    failed += 1
    longest = Math.max(longest, steps)
    isSettled &&= settles(outcome.fingerprints.slice(outcome.arrival.steps))
    if (mannerFor(ordinal).chooser === 'healthy') healthy += 1
    if (isConversing(mannerFor(ordinal))) conversing += 1
  }
  if (!begin) throw disturbed
  return {
    ...none,
    isTerminal: isTerminal && failed > 0,
    begin,
    failed,
    healthy,
    conversing,
    longest,
    effort,
    isSettled,
  }
}

const settles = (states: readonly (string | undefined)[]): boolean => {
  const half = Math.ceil(states.length / 2)
  const first = new Set(states.slice(0, half))
  return states.slice(half).every(state => state !== undefined && first.has(state))
}

/** A walk that does not count says nothing of the others. */
const tryFaithfully = async (cells: Cells, task: Task): Promise<TaskOutcome | Unfaithful> => {
  const came = await cells.tryRun(task)
  if (came instanceof Diverged && !(came instanceof Unfaithful)) throw came
  return came
}

const taskOf = (
  labels: readonly string[],
  walk: Walk,
  { property, stepsMin, isLenient }: Pick<RecoveryOptions, 'property' | 'stepsMin' | 'isLenient'>,
): Task => ({
  start: isLenient ? startAsOffered(labels) : startAfter(labels),
  untilViolation: true,
  untilLive: { properties: [property], ...(stepsMin && { stepsMin }), walks: [walk] },
})

/** How a walk goes. */
interface WalkManner {
  readonly chooser: Walk['chooser']
  /** How many others of this kind came before it. */
  readonly nth: number
}

const walkOf = ({ length, given }: PlannedWalk, { chooser, nth }: WalkManner, drawn: number): Walk => {
  if (given) return { ...given, length }
  const seed = chooser === 'conversations' ? nth : chooser === 'healthy' ? healthySeed(drawn, nth) : drawn
  return { chooser, length, seed }
}

const once: readonly Walk['chooser'][] = ['healthy', 'fresh', 'conversations', 'healthy', 'fair swarm', 'straight']
const again: readonly Walk['chooser'][] = ['healthy', 'fair', 'conversations', 'healthy', 'fair swarm', 'fair']

const mannerOf = (ordinal: number): WalkManner => {
  const chooser = once[ordinal] ?? again[ordinal % again.length]!
  const period = chooser === 'healthy' ? again.length / 2 : again.length
  return { chooser, nth: Math.floor(ordinal / period) }
}

const manneredBy =
  (choosers: readonly ChooserName[]) =>
  (ordinal: number): WalkManner => ({
    chooser: choosers[ordinal % choosers.length]!,
    nth: Math.floor(ordinal / choosers.length),
  })

/** So many of this many walks go one conversation after the other, each in another order of the nodes. */
export const conversingAmong = (walks: number): number =>
  Array.from({ length: walks }, (_, ordinal) => mannerOf(ordinal)).filter(isConversing).length

const isConversing = ({ chooser }: WalkManner): boolean => chooser === 'conversations'

const beginOf = ({ schedule, fingerprints, lastLive, arrival }: TaskOutcome, property: string): Begin => {
  const last = lastLive.get(property)
  return {
    schedule: schedule.slice(0, arrival.steps),
    fingerprints: fingerprints.slice(0, arrival.steps + 1),
    lastLive: last !== undefined && last <= arrival.steps ? last : undefined,
    broken: arrival.broken,
    arrival,
  }
}

interface PlannedWalk {
  /** Among those of its length, counted from 0. */
  readonly ordinal: number
  readonly length: number
  /** It is tried before those that count. */
  readonly isShort: boolean
  readonly given?: Walk
}

const shortCount = 8
const shortFactor = 8
/** What a start of real processes costs, as steps. */
export const startSteps = 64

/**
 * What recovers mostly recovers soon: some short walks show it, for the price of one that goes its whole length. They have
 * to be worth the way to where they begin. In place of one that says nothing there is another, up to as many as were wanted.
 */
class Planned {
  readonly #length: number
  readonly #countMax: number
  readonly #before: PlannedWalk[]
  #count: number
  #next = 0

  constructor(count: number, walkLength: number, before: PlannedWalk[]) {
    this.#count = count
    this.#countMax = 2 * count
    this.#length = walkLength
    this.#before = before
  }

  another(): void {
    this.#count = Math.min(this.#count + 1, this.#countMax)
  }

  next(): PlannedWalk | undefined {
    const before = this.#before.shift()
    if (before) return before
    if (this.#next === this.#count) return undefined
    return { ordinal: this.#next++, length: this.#length, isShort: false }
  }
}
