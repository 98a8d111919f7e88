import type { Cells } from '../cells/cells.ts'
import type { Arrival, Task, TaskOutcome } from '../cells/task.ts'
import { againOf } from '../choosers/again.ts'
import type { ChooserName, Walk } from '../choosers/chooser.ts'
import { healthySeed } from '../choosers/healthy.ts'
import { Diverged, Unfaithful } from '../system/errors.ts'
import { labelsOf } from '../system/labels.ts'
import type { Random } from '../system/random.ts'
import { startAfter, startAsOffered } from '../system/start.ts'
import type { Choice } from '../system/system.ts'
import { slowMs } from './slow-network.ts'

/**
 * Default number of walks that must fail before a state is called dead (MaceMC: with 60 the critical transition was
 * always right, with 20 off by two steps at most).
 */
export const defaultWalks = 60

/** As many of the walks behind a reported death depend on nothing that executions before them left. */
export const walksOnNewProcesses = 2

/** With more, candidates for a shorter way to a death cost more than what their test comes to. */
export const scoutsMax = 8
const followedMax = 2

/**
 * How many walks must fail before a state is provisionally believed dead. If a state recovers in its n-th walk after
 * all, others may be like it, so from then on twice as many walks are tried, up to a limit: the final answer is tested
 * with all walks anyway.
 */
export class Scouts {
  count = 2
  /** Whether a state recovered so late that this number of walks seldom tells it from a dead one. */
  areTooFew = false
  /** Walks that recovered after others had failed. They are tried first from then on. */
  walks: readonly Walk[] = []

  /** @param n index of the walk that recovered, counted from 1 */
  learn(n: number): void {
    this.count = Math.max(this.count, Math.min(2 * n, scoutsMax))
    this.areTooFew ||= n > scoutsMax
  }

  /** @param walk recovered although many others had not */
  follow(walk: Walk): void {
    const others = this.walks.filter(each => each.chooser !== walk.chooser || each.seed !== walk.seed)
    this.walks = [walk, ...others].slice(0, followedMax)
  }

  copy(): Scouts {
    const copy = new Scouts()
    copy.adopt(this)
    return copy
  }

  /** Knows from now on what the other knows, and nothing else. */
  adopt({ count, areTooFew, walks }: Scouts): void {
    Object.assign(this, { count, areTooFew, walks })
  }
}

export interface RecoveryOptions {
  /** The liveness property. */
  readonly property: string
  /** Number of walks, and the length limit of each. Some shorter ones are tried before. */
  readonly walks: number
  readonly walkLength: number
  /** Walks that meet nothing new end sooner: see `Walk`. */
  readonly settlesFrom?: number
  /** A live state counts only after this many steps; 0 by default. */
  readonly stepsMin?: number
  /** Choosers to use in turn. By default all that are listed at `recover`. */
  readonly choosers?: readonly ChooserName[] | undefined
  /** Whether to skip labels of the schedule that are not enabled. */
  readonly isLenient?: boolean
  /** Whether, then, timers that are due at other times are matched by node and order. */
  readonly isShifted?: boolean
  /**
   * How many walks, the last ones of a healthy network, begin on new processes; 0 by default. They cost most, and a state
   * that recovers does so in an earlier one.
   */
  readonly onNewProcesses?: number
  /** Walks to try before the others. */
  readonly first?: readonly Walk[] | undefined
  readonly random: Random
}

export interface Recovery {
  /** A schedule that begins with the given one and ends in a live state, if one was found. */
  readonly live: readonly string[] | undefined
  /** Which walk of full length found it, counted from 1, and how it chose. */
  readonly walk: number | undefined
  readonly by: Walk | undefined
  /** The walk that takes the steps which led to `live`, to be tried from other states. */
  readonly again: Walk | undefined
  /** Whether every walk ended because only faults were enabled, so that longer ones would not help. */
  readonly isTerminal: boolean
  /**
   * Where the walks began: the executed part of the schedule, and the last step in it after which the property held.
   */
  readonly begin: RecoveryBegin
  /** Failed walks of full length. Walks that ended in a crash prove nothing and are not counted. */
  readonly failed: number
  /** How many of these were walks of a healthy network, and how many took one conversation after the other. */
  readonly healthy: number
  readonly conversing: number
  /** Steps of the longest of these walks. */
  readonly longest: number
  /** Whether no message was in flight for longer than in a usual network. */
  readonly isBound: boolean
  /** Steps of all walks together, including the cost of their starts. */
  readonly effort: number
  /** An execution that met a violation, or a crash or divergence that counts as one. */
  readonly met: TaskOutcome | undefined
}

export interface RecoveryBegin {
  readonly schedule: readonly Choice[]
  readonly fingerprints: readonly (string | undefined)[]
  readonly lastLive: number | undefined
  readonly broken: boolean
  readonly arrival: Pick<Arrival, 'offered' | 'skipped'>
}

/**
 * Tries to reach a live state from the end of a schedule (`Recovers` of MaceMC, algorithm 3). One successful walk is
 * enough. Walks take no faults: recovery must not depend on a fault that may never happen. Nor may it depend on a message
 * that is later than in a usual network, if the system can bound that. The first and every third
 * walk behave like a healthy network, since whatever recovers in practice recovers there. Every sixth takes one
 * conversation after the other; one leaves the messages in flight to the end; one goes the straight way; the others are
 * weighted, some with weights of their own.
 *
 * A state from which a walk recovers with probability p is mistaken for dead with probability (1-p)^walks.
 */
export const recover = async (
  cells: Cells,
  schedule: readonly string[],
  { walks, walkLength, settlesFrom, choosers, random, onNewProcesses = 0, first = [], ...options }: RecoveryOptions,
): Promise<Recovery> => {
  const length = Math.ceil(walkLength / shortFactor)
  const isWorth = !choosers && walks > 1 && length >= (startSteps + schedule.length) / 2
  const queue = new WalkQueue(walks, walkLength, [
    ...first.map(given => ({ ordinal: 0, length: walkLength, isShort: true, given })),
    ...Array.from({ length: isWorth ? shortCount : 0 }, (_, ordinal) => ({ ordinal, length, isShort: true })),
  ])
  const seeds = random.fork()
  const nthFor = choosers ? nthWalkBy(choosers) : nthWalk
  const outcomes = cells.inOrder(
    () => queue.next(),
    async (queued, cells) => {
      const { ordinal, isShort } = queued
      const walk = walkOf(queued, nthFor(ordinal), seeds.seed(), settlesFrom)
      const isLast = ordinal >= walks - healthyPeriod * onNewProcesses
      const isOnNewProcesses = !isShort && isLast && onNewProcesses > 0 && walk.chooser === 'healthy'
      return { walk, outcome: await tryFaithfully(cells, { ...taskOf(schedule, walk, options), isOnNewProcesses }) }
    },
  )
  const none = { live: undefined, walk: undefined, by: undefined, again: undefined, met: undefined }
  let begin: RecoveryBegin | undefined
  let disturbed: Unfaithful | undefined
  let isTerminal = true
  let isBound = false
  let [failed, healthy, conversing, longest, effort] = [0, 0, 0, 0, 0]
  for await (const [{ ordinal, isShort }, { walk, outcome }] of outcomes) {
    if (outcome instanceof Unfaithful) {
      disturbed ??= outcome
      isTerminal = false
      if (!isShort) queue.another()
      continue
    }
    begin ??= beginOf(outcome, options.property)
    const { toLive, finding, violation } = outcome
    isBound = toLive?.isBound === true
    const steps = outcome.schedule.length - outcome.arrival.steps
    effort += startSteps + steps
    const counts = { failed, healthy, conversing, longest, effort, isBound }
    if (violation) return { ...none, ...counts, isTerminal: false, begin, met: outcome }
    if (toLive?.end === 'goal') {
      const live = labelsOf(outcome.schedule)
      const number = isShort ? undefined : ordinal + 1
      const again = walkAgain(outcome.schedule.slice(outcome.arrival.steps))
      return { ...none, ...counts, live, walk: number, by: walk, again, isTerminal: false, begin }
    }
    if (finding) {
      // A crash that is not a violation. Nothing is known of what would have followed.
      isTerminal = false
      if (outcome.arrival.broken) return { ...none, ...counts, isTerminal, begin }
      if (!isShort) queue.another()
      continue
    }
    const isOver = toLive?.end === 'terminal'
    // Nothing is enabled, so no other walk can help. A walk of certain steps only misses the first of them.
    if (isOver && steps === 0 && walk.chooser !== 'again') return { ...none, ...counts, isTerminal: true, begin }
    if (isShort) continue
    isTerminal &&= isOver
    failed += 1
    longest = Math.max(longest, steps)
    if (nthFor(ordinal).chooser === 'healthy') healthy += 1
    if (isConversing(nthFor(ordinal))) conversing += 1
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
    isBound,
  }
}

/** A walk that does not count says nothing about the others. */
const tryFaithfully = async (cells: Cells, task: Task): Promise<TaskOutcome | Unfaithful> => {
  const came = await cells.tryRun(task)
  if (came instanceof Diverged && !(came instanceof Unfaithful)) throw came
  return came
}

const taskOf = (
  labels: readonly string[],
  walk: Walk,
  {
    property,
    stepsMin,
    isLenient,
    isShifted,
  }: Pick<RecoveryOptions, 'property' | 'stepsMin' | 'isLenient' | 'isShifted'>,
): Task => ({
  start: isLenient ? startAsOffered(labels, isShifted) : startAfter(labels),
  untilViolation: true,
  untilLive: { properties: [property], ...(stepsMin && { stepsMin }), delayMsMax: slowMs, walks: [walk] },
})

/** The walk that takes these steps again, though messages may have other ordinals. */
export const walkAgain = (choices: readonly Choice[]): Walk => {
  const steps = choices.map(choice => againOf(choice, []))
  return { chooser: 'again', seed: 0, length: steps.length, steps }
}

/** A walk by how it chooses. */
interface NthWalk {
  readonly chooser: Walk['chooser']
  /** How many walks with the same chooser came before it. */
  readonly nth: number
}

const walkOf = (
  { length, given }: QueuedWalk,
  { chooser, nth }: NthWalk,
  drawn: number,
  settlesFrom: number | undefined,
): Walk => {
  if (given) return given.chooser === 'again' ? given : { ...given, length }
  const seed = chooser === 'conversations' ? nth : chooser === 'healthy' ? healthySeed(drawn, nth) : drawn
  return { chooser, length, seed, ...(settlesFrom !== undefined && { settlesFrom }) }
}

const once: readonly Walk['chooser'][] = ['healthy', 'fresh', 'conversations', 'healthy', 'fair swarm', 'straight']
const again: readonly Walk['chooser'][] = ['healthy', 'fair', 'conversations', 'healthy', 'fair swarm', 'fair']

/** Every third walk is one of a healthy network. */
const healthyPeriod = 3

const nthWalk = (ordinal: number): NthWalk => {
  const chooser = once[ordinal] ?? again[ordinal % again.length]!
  const period = chooser === 'healthy' ? healthyPeriod : again.length
  return { chooser, nth: Math.floor(ordinal / period) }
}

const nthWalkBy =
  (choosers: readonly ChooserName[]) =>
  (ordinal: number): NthWalk => ({
    chooser: choosers[ordinal % choosers.length]!,
    nth: Math.floor(ordinal / choosers.length),
  })

/** How many of this many walks take one conversation after the other. Each has another order of the nodes. */
export const conversingAmong = (walks: number): number =>
  Array.from({ length: walks }, (_, ordinal) => nthWalk(ordinal)).filter(isConversing).length

const isConversing = ({ chooser }: NthWalk): boolean => chooser === 'conversations'

const beginOf = ({ schedule, fingerprints, lastLive, arrival }: TaskOutcome, property: string): RecoveryBegin => {
  const last = lastLive.get(property)
  return {
    schedule: schedule.slice(0, arrival.steps),
    fingerprints: fingerprints.slice(0, arrival.steps + 1),
    lastLive: last !== undefined && last <= arrival.steps ? last : undefined,
    broken: arrival.broken,
    arrival,
  }
}

interface QueuedWalk {
  /** Index among the walks of its length, from 0. */
  readonly ordinal: number
  readonly length: number
  /** Whether it is a short walk, tried before those that count. */
  readonly isShort: boolean
  readonly given?: Walk
}

const shortCount = 8
const shortFactor = 8
/** Cost of a start of real processes, in steps. */
export const startSteps = 64

/**
 * Most states that recover do so soon, so some short walks are tried first, all of them together for the price of one
 * of full length. They are skipped if they would be shorter than the way to their beginning. A walk that proved nothing
 * is replaced by another one, up to the number wanted.
 */
class WalkQueue {
  readonly #length: number
  readonly #countMax: number
  readonly #before: QueuedWalk[]
  #count: number
  #next = 0

  constructor(count: number, walkLength: number, before: QueuedWalk[]) {
    this.#count = count
    this.#countMax = 2 * count
    this.#length = walkLength
    this.#before = before
  }

  another(): void {
    this.#count = Math.min(this.#count + 1, this.#countMax)
  }

  next(): QueuedWalk | undefined {
    const before = this.#before.shift()
    if (before) return before
    if (this.#next === this.#count) return undefined
    return { ordinal: this.#next++, length: this.#length, isShort: false }
  }
}
