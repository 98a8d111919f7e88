import { Diverged, Unfaithful } from './errors.ts'
import type { Executor, Mark } from './executor.ts'
import { follow } from './schedule.ts'

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

export interface BoundedOptions {
  /** Brings the system to the state that the search begins in. */
  readonly start: () => Promise<void>
  readonly depthMax: number
}

/** Where the system stands after a schedule; `Diverged` where its beginning could not be executed again. */
export type Arrival = 'new' | 'pruned' | 'violation' | Diverged

/** A schedule that led to a new state, and what was enabled there. */
interface Leaf {
  readonly labels: readonly string[]
  readonly enabled: readonly string[]
}

/**
 * Bounded search with rising depth: the empty schedule, then all schedules of length 1, of length 2, and so on (MaceMC,
 * algorithm 1, with an increment of one). Each `next()` executes one schedule and leaves the system at its end. It is
 * stateless: a schedule is executed from the start, or from a checkpoint of its parent where the system has them.
 *
 * Nothing is searched beyond a state whose fingerprint was met before. As depth rises by one, the first way to a state
 * is a shortest one, so pruning loses no violation as long as equal fingerprints mean equal futures.
 */
export class BoundedSearch<State> {
  readonly levels: Level[] = []
  /** Whether no schedule goes on, so that all have been searched whatever their length. */
  exhausted = false
  readonly #executor: Executor<State>
  readonly #options: BoundedOptions
  readonly #seen = new Set<string>()
  readonly #arrivals: AsyncGenerator<Arrival, undefined>

  constructor(executor: Executor<State>, options: BoundedOptions) {
    this.#executor = executor
    this.#options = options
    this.#arrivals = this.#search()
  }

  /** The depth up to which everything has been searched. */
  get depth(): number {
    return this.levels.filter(level => level.complete).length
  }

  /** Executes the next schedule; `undefined` where none is left. */
  async next(): Promise<Arrival | undefined> {
    return (await this.#arrivals.next()).value
  }

  /** Frees what the search holds. */
  async end(): Promise<void> {
    await this.#arrivals.return(undefined)
  }

  async *#search(): AsyncGenerator<Arrival, undefined> {
    await this.#options.start()
    this.#isKnown()
    let parents = [this.#leaf([])]
    yield this.#executor.violation ? 'violation' : 'new'
    for (let depth = 1; depth <= this.#options.depthMax; depth++) {
      this.exhausted = parents.every(leaf => leaf.enabled.length === 0)
      if (this.exhausted) return undefined
      const level: Level = { depth, executions: 0, states: 0, pruned: 0, complete: false }
      const children: Leaf[] = []
      this.levels.push(level)
      for (const parent of parents) yield* this.#searchBeyond(parent, level, children)
      level.complete = true
      parents = children
    }
    return undefined
  }

  async *#searchBeyond(parent: Leaf, level: Level, children: Leaf[]): AsyncGenerator<Arrival> {
    let mark: Mark | undefined
    try {
      const labels = [...parent.enabled]
      for (let label = labels.shift(); label !== undefined; label = labels.shift()) {
        try {
          if (mark) await this.#executor.restore(mark)
          else mark = await this.#reach(parent)
          await follow(this.#executor, [label])
          yield this.#arrive([...parent.labels, label], level, children)
        } catch (error) {
          if (!(error instanceof Diverged)) throw error
          if (error instanceof Unfaithful) labels.unshift(label)
          yield error
        }
      }
    } finally {
      await mark?.checkpoint.discard()
    }
  }

  async #reach(parent: Leaf): Promise<Mark | undefined> {
    await this.#options.start()
    await follow(this.#executor, parent.labels)
    return parent.enabled.length > 1 ? await this.#executor.mark() : undefined
  }

  #arrive(labels: readonly string[], level: Level, children: Leaf[]): Arrival {
    level.executions += 1
    if (this.#executor.violation || this.#executor.broken) return 'violation'
    if (this.#isKnown()) {
      level.pruned += 1
      return 'pruned'
    }
    level.states += 1
    children.push(this.#leaf(labels))
    return 'new'
  }

  #leaf(labels: readonly string[]): Leaf {
    return { labels, enabled: this.#executor.enabled().map(choice => choice.label) }
  }

  // Remembers the present state, and tells whether it was known already.
  #isKnown(): boolean {
    const fingerprint = this.#executor.system.fingerprint()
    if (fingerprint === undefined) return false
    const known = this.#seen.has(fingerprint)
    this.#seen.add(fingerprint)
    return known
  }
}
