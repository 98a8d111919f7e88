import type { TaskOutcome } from '../cells/task.ts'
import { isFault, isRepair } from '../happening/kinds.ts'
import { Unfaithful } from '../system/errors.ts'
import { withoutFarTimers } from '../system/far-timers.ts'
import { identityOf } from '../system/likeness.ts'
import type { Choice } from '../system/system.ts'

/** Counts of the search at one depth. */
export interface Level {
  readonly depth: number
  /** Schedules of this length that were executed. */
  executions: number
  /** Schedules that reached a new state. Without fingerprints, all of them. */
  states: number
  /** Schedules that reached a known state. The search does not continue from there. */
  pruned: number
  /** Schedules that were not executed because another order of the same steps was (sleep sets). */
  asleep: number
  /** Whether every schedule of this length was executed, pruned or asleep. */
  complete: boolean
}

/** What a schedule led to. */
export type Arrived = 'new' | 'pruned' | 'violation'

/** A choice that is asleep after a schedule: it is not executed there, because another order of it is. */
interface Asleep {
  readonly choice: Choice
  /** The schedule that ends with this choice and covers all other orders. */
  readonly by: Prefix
}

/** A schedule to execute: a shorter one plus one label. */
export class Prefix {
  readonly depth: number
  /** Whether it ends with what repairs a fault. */
  readonly isRepaired: boolean
  readonly asleep: readonly Asleep[]
  state: 'open' | 'arrived' | 'given up' = 'open'
  /** Schedules after which its last choice was left asleep, because this schedule was expected to cover it. */
  readonly trusting: { readonly after: Prefix; readonly choice: Choice }[] = []
  readonly #parent: Prefix | undefined
  readonly #label: string

  constructor(parent?: Prefix, choice?: Choice, asleep: readonly Asleep[] = []) {
    this.#parent = parent
    this.#label = choice?.label ?? ''
    this.isRepaired = choice !== undefined && isRepair(choice.kind)
    this.asleep = asleep
    this.depth = parent ? parent.depth + 1 : 0
  }

  /** The schedule without its last step. */
  get parent(): Prefix | undefined {
    return this.#parent
  }

  get labels(): readonly string[] {
    const labels: string[] = []
    for (let each: Prefix = this; each.#parent; each = each.#parent) labels.push(each.#label)
    return labels.reverse()
  }
}

export interface BoundedOptions {
  readonly depthMax?: number | undefined
  /** Whether to execute every order of steps, including steps that commute. */
  readonly everyOrder?: boolean | undefined
  /** Whether to leave out faults. Restarts and heals are still executed. */
  readonly faultless?: boolean | undefined
  /** What tells states apart; `fingerprint` by default. */
  readonly by?: 'fingerprint' | 'history' | 'nothing' | undefined
  /** Limit on waiting schedules and, separately, on remembered states. */
  readonly waitingMax?: number | undefined
}

/** After this many divergences, or disturbances from outside, a schedule is given up. With more attempts, one bad schedule would hold up the search. */
const divergedMax = 2
const disturbedMax = 4

/** Each schedule or state takes about a hundred bytes, so these take about 100 MB each. */
const waitingMaxDefault = 1_000_000

/**
 * Bounded search with rising depth: the empty schedule, then all schedules of length 1, of length 2, and so on (MaceMC,
 * algorithm 1, with an increment of one). It returns the schedule to execute next, always from the start, and learns
 * what it led to. Several may be under way at once, if their outcomes are reported in the order in which they were
 * handed out.
 *
 * The search does not continue from a state whose fingerprint is known. Because depth rises by one, the first path to a
 * state is a shortest one, so pruning loses no violation as long as equal fingerprints mean equal futures.
 *
 * Among the schedules of one length, those that continue from a repair come first: walks hardly ever break something twice
 * before anything else happens.
 *
 * Of two steps that commute, one order is enough. Sleep sets (Godefroid, "Partial-Order Methods for the Verification of
 * Concurrent Systems", 1996, chapter 5, and section 5.4 for states that are met again) leave out executions, but no
 * state, and meet each state at the same depth. Dynamic partial-order reduction (Flanagan, Godefroid, POPL 2005) would
 * leave out more, but also states that properties read and, within a depth bound, schedules that no race leads to
 * (Coons, Musuvathi, McKinley, OOPSLA 2013). Made to lose nothing, it executes more than sleep sets if nodes always
 * have something to do (`bench/partial-orders.ts`).
 */
export class BoundedSearch {
  readonly levels: Level[] = []
  readonly #depthMax: number
  readonly #everyOrder: boolean
  readonly #faultless: boolean
  readonly #by: 'fingerprint' | 'history' | 'nothing'
  readonly #waitingMax: number
  /**
   * By fingerprint: the first schedule that reached the state, and the identities of the choices that were asleep
   * there.
   */
  readonly #met = new Map<string, { readonly first: Prefix; asleep: ReadonlySet<string> }>()
  #waiting: Prefix[] = [new Prefix()]
  /** Schedules that continue from a repair: they do not wait behind the others of their length. */
  #repaired: Prefix[] = []
  /** How many schedules were taken from the front of `#waiting`. */
  #taken = 0
  /** Schedules to try once more. */
  readonly #again: Prefix[] = []
  /** By depth, the number of schedules that wait, are under way, or had no room. */
  readonly #open = [1]
  /** How often each schedule failed. */
  readonly #failures = new WeakMap<Prefix, number>()
  #isCut = false

  constructor({
    depthMax = Number.POSITIVE_INFINITY,
    everyOrder = false,
    faultless = false,
    by = 'fingerprint',
    waitingMax = waitingMaxDefault,
  }: BoundedOptions = {}) {
    this.#depthMax = depthMax
    this.#everyOrder = everyOrder
    this.#faultless = faultless
    this.#by = by
    this.#waitingMax = waitingMax
  }

  /** The depth up to which everything has been searched. */
  get depth(): number {
    return this.levels.filter(level => level.complete).length
  }

  /** Schedules that reached a known state. */
  get pruned(): number {
    return this.levels.reduce((sum, level) => sum + level.pruned, 0)
  }

  /** Whether all schedules for which there was room have been executed, to their ends or to the depth bound. */
  get isDone(): boolean {
    return this.#open.every(open => open === 0)
  }

  /** Whether all schedules were executed to their ends, with no depth bound in the way. */
  get exhausted(): boolean {
    return !this.#isCut && this.isDone
  }

  /** The next schedule; `undefined` if there is none until it learns of those under way. */
  next(): Prefix | undefined {
    const again = this.#again.pop()
    if (again) return again
    const [repaired] = this.#repaired
    if (repaired && repaired.depth <= (this.#waiting[this.#taken]?.depth ?? repaired.depth))
      return this.#repaired.shift()
    if (this.#taken === this.#waiting.length) return undefined
    const next = this.#waiting[this.#taken++]
    if (this.#taken >= 1_024 && 2 * this.#taken > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#taken)
      this.#taken = 0
    }
    return next
  }

  /**
   * The first schedule that reached the same state; `undefined` if the state is not known or states are not told apart.
   */
  firstTo(outcome: TaskOutcome): Prefix | undefined {
    const fingerprint = this.#fingerprintOf(outcome)
    return fingerprint === undefined ? undefined : this.#met.get(fingerprint)?.first
  }

  /** Learns what a schedule led to. Steps after its end do not matter here. */
  arrive(prefix: Prefix, outcome: TaskOutcome): Arrived {
    const { arrival, violation } = outcome
    const isViolation = arrival.broken || (violation !== undefined && violation.step <= arrival.steps)
    const fingerprint = this.#fingerprintOf(outcome)
    const before = fingerprint === undefined ? undefined : this.#met.get(fingerprint)
    const arrived = isViolation ? 'violation' : before ? 'pruned' : 'new'
    this.#count(prefix, arrived)
    prefix.state = 'arrived'
    prefix.trusting.length = 0
    if (!isViolation) {
      const asleep = new Map(prefix.asleep.flatMap(each => (isTrusted(each) ? [[each.choice.label, each]] : [])))
      // A choice that was asleep when the state was first met, but is awake now, still has to be executed there.
      const wanted = this.#faultless ? arrival.enabled.filter(({ kind }) => !isFault(kind)) : arrival.enabled
      const left = wanted.filter(choice => !before || before.asleep.has(identityOf(choice)))
      const awake = left.filter(({ label }) => !asleep.has(label))
      const still = left.filter(({ label }) => asleep.has(label))
      for (const choice of still) {
        const { by } = asleep.get(choice.label)!
        if (by.state === 'open') by.trusting.push({ after: prefix, choice })
      }
      if (fingerprint !== undefined) this.#meet(fingerprint, prefix, new Set(still.map(identityOf)))
      this.#goOn(prefix, awake, [...asleep.values()], before ? 0 : still.length)
    }
    this.#close(prefix.depth)
    return arrived
  }

  /**
   * Learns that a schedule diverged or was disturbed. It is tried once more, since the cause may have been a passing
   * one. A schedule that was disturbed from outside gets a few more attempts; the number is limited, because the
   * schedule itself may cause the disturbance.
   *
   * @returns whether the schedule is given up
   */
  fail(prefix: Prefix, error: unknown): boolean {
    const failures = (this.#failures.get(prefix) ?? 0) + 1
    this.#failures.set(prefix, failures)
    const isGivenUp = failures >= (error instanceof Unfaithful ? disturbedMax : divergedMax)
    if (isGivenUp) this.#giveUp(prefix)
    else this.#again.push(prefix)
    return isGivenUp
  }

  /** Choices that were left asleep because this schedule should have covered them are executed after all. */
  #giveUp(prefix: Prefix): void {
    prefix.state = 'given up'
    for (const { after, choice } of prefix.trusting.splice(0)) {
      this.#levelOf(after.depth + 1).asleep -= 1
      this.#put(new Prefix(after, choice))
    }
    this.#close(prefix.depth)
  }

  #fingerprintOf({ fingerprints, arrival }: TaskOutcome): string | undefined {
    if (this.#by === 'nothing') return undefined
    return this.#by === 'history' ? arrival.history : fingerprints[arrival.steps]
  }

  #meet(fingerprint: string, prefix: Prefix, asleep: ReadonlySet<string>): void {
    const before = this.#met.get(fingerprint)
    if (before) before.asleep = asleep
    else if (this.#met.size < this.#waitingMax) this.#met.set(fingerprint, { first: prefix, asleep })
  }

  #count({ depth }: Prefix, arrived: Arrived): void {
    const level = this.levels[depth - 1]
    if (!level) return
    level.executions += 1
    level.states += arrived === 'new' ? 1 : 0
    level.pruned += arrived === 'pruned' ? 1 : 0
  }

  #goOn(prefix: Prefix, awake: readonly Choice[], asleep: readonly Asleep[], asleepCount: number): void {
    const depth = prefix.depth + 1
    this.#isCut ||= awake.length > 0 && depth > this.#depthMax
    if (awake.length + asleepCount === 0 || depth > this.#depthMax) return
    this.#levelOf(depth).asleep += asleepCount
    const done: Asleep[] = [...asleep]
    for (const choice of farLast(awake)) {
      const next = new Prefix(prefix, choice, this.#everyOrder ? [] : done.filter(each => commute(each.choice, choice)))
      this.#put(next)
      done.push({ choice, by: next })
    }
  }

  #levelOf(depth: number): Level {
    this.levels[depth - 1] ??= { depth, executions: 0, states: 0, pruned: 0, asleep: 0, complete: false }
    return this.levels[depth - 1]!
  }

  /** A schedule without room stays open for ever, so that its depth is never reported as searched. */
  #put(prefix: Prefix): void {
    this.#open[prefix.depth] = (this.#open[prefix.depth] ?? 0) + 1
    if (this.#waiting.length - this.#taken + this.#repaired.length >= this.#waitingMax) return
    if (prefix.parent?.isRepaired) this.#repaired.push(prefix)
    else this.#waiting.push(prefix)
  }

  #close(depth: number): void {
    this.#open[depth]! -= 1
    for (const [index, level] of this.levels.entries()) {
      if (this.#open.slice(0, index + 2).some(open => open > 0)) return
      level.complete = true
    }
  }
}

/** Choices that fire far timers come after all others. */
const farLast = (choices: readonly Choice[]): readonly Choice[] => {
  const near = withoutFarTimers(choices)
  return near === choices ? choices : [...near, ...choices.filter(choice => !near.includes(choice))]
}

const isTrusted = ({ by }: Asleep): boolean => by.state !== 'given up'

const commute = (one: Choice, other: Choice): boolean =>
  one.isLocal === true && other.isLocal === true && one.node !== other.node
