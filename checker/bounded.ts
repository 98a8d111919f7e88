import { Unfaithful } from './errors.ts'
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
  /** Whether every schedule of this length has been executed, or begins with a pruned one. */
  complete: boolean
}

/** What a schedule of the search led to. */
export type Arrived = 'new' | 'pruned' | 'violation'

/**
 * Bounded search with rising depth: the empty schedule, then all schedules of length 1, of length 2, and so on (MaceMC,
 * algorithm 1, with an increment of one). It says which schedule is to be executed next, from the start, and learns what
 * it led to; several can be on their way at once, as long as it learns of them in their order.
 *
 * Nothing is searched beyond a state whose fingerprint was met before. As depth rises by one, the first way to a state
 * is a shortest one, so pruning loses no violation as long as equal fingerprints mean equal futures.
 */
export class BoundedSearch {
  readonly levels: Level[] = []
  readonly #depthMax: number
  readonly #seen = new Set<string>()
  readonly #waiting: (readonly string[])[] = [[]]
  /** By depth, how many schedules wait or are on their way. */
  readonly #open = [1]
  #isCut = false

  constructor(depthMax = Number.POSITIVE_INFINITY) {
    this.#depthMax = depthMax
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
  next(): readonly string[] | undefined {
    return this.#waiting.shift()
  }

  /** Learns what a schedule led to. What is done beyond its end does not matter here. */
  arrive(labels: readonly string[], outcome: Outcome): Arrived {
    const arrived = this.#judge(outcome)
    const level = this.levels[labels.length - 1]
    if (level) {
      level.executions += 1
      level.states += arrived === 'new' ? 1 : 0
      level.pruned += arrived === 'pruned' ? 1 : 0
    }
    if (arrived === 'new') this.#goOn(labels, outcome.arrival.enabled)
    this.#close(labels.length)
    return arrived
  }

  /** Learns that a schedule could not be executed again. One that was disturbed from outside is tried once more. */
  fail(labels: readonly string[], error: unknown): void {
    if (error instanceof Unfaithful) this.#waiting.unshift(labels)
    else this.#close(labels.length)
  }

  #judge({ arrival, violation, fingerprints }: Outcome): Arrived {
    if (arrival.broken || (violation && violation.step <= arrival.steps)) return 'violation'
    const fingerprint = fingerprints[arrival.steps]
    if (fingerprint === undefined) return 'new'
    if (this.#seen.has(fingerprint)) return 'pruned'
    this.#seen.add(fingerprint)
    return 'new'
  }

  #goOn(labels: readonly string[], enabled: readonly string[]): void {
    const depth = labels.length + 1
    this.#isCut ||= enabled.length > 0 && depth > this.#depthMax
    if (enabled.length === 0 || depth > this.#depthMax) return
    this.levels[depth - 1] ??= { depth, executions: 0, states: 0, pruned: 0, complete: false }
    this.#open[depth] = (this.#open[depth] ?? 0) + enabled.length
    this.#waiting.push(...enabled.map(label => [...labels, label]))
  }

  #close(depth: number): void {
    this.#open[depth]! -= 1
    for (const [index, level] of this.levels.entries()) {
      if (this.#open.slice(0, index + 2).some(open => open > 0)) return
      level.complete = true
    }
  }
}
