import { Unfaithful } from './errors.ts'
import { labelsOf, withoutOrdinals } from './labels.ts'
import type { Choice } from './system.ts'
import type { Outcome } from './task.ts'

/** What the search did at one depth. */
export interface Level {
  readonly depth: number
  /** Schedules of this length that were executed. */
  executions: number
  /** Those that led to a state not met before at this depth or a smaller one; without fingerprints, all. */
  states: number
  /** Those that led to a state met before: nothing after it is searched again. */
  pruned: number
  /** Schedules that were not executed, because another order of the same steps is. */
  asleep: number
  /** Whether every schedule of this length has been executed, or left out for one of these reasons. */
  complete: boolean
}

/** What a schedule of the search led to. */
export type Arrived = 'new' | 'pruned' | 'violation'

/** A schedule to be executed. */
export interface Prefix {
  readonly labels: readonly string[]
  /** What need not be executed after it, because it has been in another order. */
  readonly asleep: readonly Choice[]
}

export interface BoundedOptions {
  readonly depthMax?: number | undefined
  /** Whether every order of steps is executed, also where they commute. */
  readonly everyOrder?: boolean | undefined
}

/**
 * Bounded search with rising depth: the empty schedule, then all schedules of length 1, of length 2, and so on (MaceMC,
 * algorithm 1, with an increment of one). It says which schedule is to be executed next, from the start, and learns what
 * it led to; several can be on their way at once, as long as it learns of them in their order.
 *
 * Nothing is searched beyond a state whose fingerprint was met before. As depth rises by one, the first way to a state
 * is a shortest one, so pruning loses no violation as long as equal fingerprints mean equal futures.
 *
 * Of two steps that commute, one order is enough: sleep sets (Godefroid, "Partial-Order Methods for the Verification of
 * Concurrent Systems", 1996, chapter 5, and section 5.4 for states that are met again) leave out executions and no state,
 * nor any depth at which one is met. Dynamic partial-order reduction (Flanagan, Godefroid, POPL 2005) would leave out more,
 * among it states that properties read, and within a depth even ways that no race leads to (Coons, Musuvathi, McKinley,
 * OOPSLA 2013); made to lose none, it executes more than sleep sets where nodes always have something to do
 * (`bench/partial-orders.ts`).
 */
export class BoundedSearch {
  readonly levels: Level[] = []
  readonly #depthMax: number
  readonly #everyOrder: boolean
  /** By fingerprint, what was left out after that state, without the numbers that messages have on one way there. */
  readonly #asleep = new Map<string, ReadonlySet<string>>()
  readonly #waiting: Prefix[] = [{ labels: [], asleep: [] }]
  /** By depth, how many schedules wait or are on their way. */
  readonly #open = [1]
  readonly #failed = new WeakSet<Prefix>()
  #isCut = false

  constructor({ depthMax = Number.POSITIVE_INFINITY, everyOrder = false }: BoundedOptions = {}) {
    this.#depthMax = depthMax
    this.#everyOrder = everyOrder
  }

  /** The depth up to which everything has been searched. */
  get depth(): number {
    return this.levels.filter(level => level.complete).length
  }

  /** Whether no schedule goes on, so that all have been searched whatever their length. */
  get exhausted(): boolean {
    return !this.#isCut && this.#open.every(open => open === 0)
  }

  /** The next schedule; `undefined` where there is none as long as it does not learn of others. */
  next(): Prefix | undefined {
    return this.#waiting.shift()
  }

  /** Learns what a schedule led to. What is done beyond its end does not matter here. */
  arrive(prefix: Prefix, { arrival, violation, fingerprints }: Outcome): Arrived {
    const isViolation = arrival.broken || (violation !== undefined && violation.step <= arrival.steps)
    const fingerprint = fingerprints[arrival.steps]
    const before = fingerprint === undefined ? undefined : this.#asleep.get(fingerprint)
    const arrived = isViolation ? 'violation' : before ? 'pruned' : 'new'
    this.#count(prefix, arrived)
    if (!isViolation) {
      const asleep = new Set(labelsOf(prefix.asleep))
      // What slept when the state was met before, and is awake now, is what is left to be executed there.
      const left = arrival.enabled.filter(({ label }) => !before || before.has(withoutOrdinals(label)))
      const [awake, still] = [
        left.filter(({ label }) => !asleep.has(label)),
        left.filter(({ label }) => asleep.has(label)),
      ]
      if (fingerprint !== undefined) this.#asleep.set(fingerprint, new Set(labelsOf(still).map(withoutOrdinals)))
      this.#goOn(prefix, awake, before ? 0 : still.length)
    }
    this.#close(prefix.labels.length)
    return arrived
  }

  /**
   * Learns that a schedule could not be executed again. One that was disturbed from outside does not count; any other is
   * tried once more, for it may be that this once something went otherwise.
   *
   * @returns whether it is given up
   */
  fail(prefix: Prefix, error: unknown): boolean {
    const isGivenUp = !(error instanceof Unfaithful) && this.#failed.has(prefix)
    if (isGivenUp) this.#close(prefix.labels.length)
    else this.#waiting.unshift(prefix)
    this.#failed.add(prefix)
    return isGivenUp
  }

  #count({ labels }: Prefix, arrived: Arrived): void {
    const level = this.levels[labels.length - 1]
    if (!level) return
    level.executions += 1
    level.states += arrived === 'new' ? 1 : 0
    level.pruned += arrived === 'pruned' ? 1 : 0
  }

  #goOn({ labels, asleep }: Prefix, awake: readonly Choice[], asleepCount: number): void {
    const depth = labels.length + 1
    this.#isCut ||= awake.length > 0 && depth > this.#depthMax
    if (awake.length + asleepCount === 0 || depth > this.#depthMax) return
    this.levels[depth - 1] ??= { depth, executions: 0, states: 0, pruned: 0, asleep: 0, complete: false }
    this.levels[depth - 1]!.asleep += asleepCount
    this.#open[depth] = (this.#open[depth] ?? 0) + awake.length
    for (const [index, choice] of awake.entries()) {
      const done = this.#everyOrder ? [] : [...asleep, ...awake.slice(0, index)]
      const stillAsleep = done.filter(other => commute(other, choice))
      this.#waiting.push({ labels: [...labels, choice.label], asleep: stillAsleep })
    }
  }

  #close(depth: number): void {
    this.#open[depth]! -= 1
    for (const [index, level] of this.levels.entries()) {
      if (this.#open.slice(0, index + 2).some(open => open > 0)) return
      level.complete = true
    }
  }
}

const commute = (one: Choice, other: Choice): boolean =>
  one.isLocal === true && other.isLocal === true && one.node !== other.node
