import type { Cells } from '../cells/cells.ts'
import type { Task, TaskOutcome } from '../cells/task.ts'
import type { Walk } from '../choosers/chooser.ts'
import { BoundedSearch, type Prefix } from '../searches/bounded.ts'
import type { WaysToLife } from '../searches/ways-to-life.ts'
import { Diverged } from '../system/errors.ts'
import { labelsOf } from '../system/labels.ts'
import { startAfter } from '../system/start.ts'
import type { Choice } from '../system/system.ts'
import { startSteps, walkAgain } from './recovery.ts'
import { slowMs } from './slow-network.ts'

export interface LifeOptions {
  /** The liveness property. */
  readonly property: string
  /** Length limit of each walk, in steps. */
  readonly walkLength: number
  /** How many orders of the nodes were tried by walks already. */
  readonly ordersTried: number
  /** Limit on steps. A start counts as `startSteps`. */
  readonly effort: number
  readonly ways: WaysToLife | undefined
}

/** What was searched, and the result. */
export interface LifeSearch {
  /** A schedule that begins with the given one and ends in a live state, if one was found. */
  readonly live: readonly string[] | undefined
  /** An execution that met a violation. */
  readonly met: TaskOutcome | undefined
  /** The walk that found the live state, or one that repeats its steps. */
  readonly by: Walk | undefined
  /** Paths of live executions that were tried because they pass through a state met here. */
  readonly known: number
  /** Schedules of the bounded search, and the depth up to which all were executed. */
  readonly schedules: number
  readonly depth: number
  /** Whether every reachable state was met. */
  readonly exhausted: boolean
}

/**
 * At most this many orders of the nodes are tried. With more than four nodes there are more, so random ones are drawn.
 */
const ordersMax = 24
const orders = [0, 2, 4, 12]
const knownMax = 8

/**
 * Searches for a way back to a live state that random walks rarely take, before a state is called dead. It tries each
 * node's conversations to their ends in every order of nodes; then the paths of live executions through states met
 * here; then all schedules by rising depth. None of them takes a fault: see `recover`.
 */
export const searchLife = async (
  cells: Cells,
  schedule: readonly string[],
  options: LifeOptions,
): Promise<LifeSearch> => {
  const search = new Search(cells, schedule, options)
  await search.run()
  return search.result
}

class Search {
  readonly #cells: Cells
  readonly #schedule: readonly string[]
  readonly #options: LifeOptions
  readonly #bounded = new BoundedSearch({ faultless: true })
  readonly #tried = new Set<string>()
  #live: readonly Choice[] | undefined
  #met: TaskOutcome | undefined
  #by: Walk | undefined
  #schedules = 0
  /** Steps left to take. */
  #left: number
  #isWhole = false

  constructor(cells: Cells, schedule: readonly string[], options: LifeOptions) {
    this.#cells = cells
    this.#schedule = schedule
    this.#options = options
    this.#left = options.effort
  }

  get result(): LifeSearch {
    const { depth, exhausted, pruned } = this.#bounded
    return {
      live: this.#live && labelsOf(this.#live),
      met: this.#met,
      by: this.#by ?? (this.#live && walkAgain(this.#live.slice(this.#schedule.length))),
      known: this.#tried.size,
      schedules: this.#schedules,
      depth,
      exhausted: exhausted && (pruned === 0 || this.#isWhole),
    }
  }

  async run(): Promise<void> {
    const next = () => (this.#isOver ? undefined : this.#bounded.next())
    const outcomes = this.#cells.inOrder(next, (prefix, cells) => this.#runIn(cells, prefix.labels))
    for await (const [prefix, outcome] of outcomes) {
      this.#pay(outcome)
      if (prefix.depth === 0 && !(outcome instanceof Diverged)) await this.#converse(outcome.arrival.enabled)
      if (outcome instanceof Diverged) this.#bounded.fail(prefix, outcome)
      else await this.#arrive(prefix, outcome)
      if (this.#isOver) return
    }
  }

  async #arrive(prefix: Prefix, outcome: TaskOutcome): Promise<void> {
    this.#bounded.arrive(prefix, outcome)
    this.#isWhole = outcome.abstraction === 'whole'
    this.#schedules += 1
    await this.#learn(outcome)
  }

  /** Tries the remaining orders of the nodes' conversations. */
  async #converse(enabled: readonly Choice[]): Promise<void> {
    const begins = enabled.filter(({ kind }) => kind === 'timer' || kind === 'client')
    const count = orders[new Set(begins.map(({ node }) => node)).size] ?? ordersMax
    let seed = this.#options.ordersTried
    const next = (): Walk | undefined =>
      seed < count && !this.#isOver
        ? { chooser: 'conversations', seed: seed++, length: this.#options.walkLength }
        : undefined
    for await (const [walk, outcome] of this.#cells.inOrder(next, (walk, cells) => this.#runIn(cells, [], walk))) {
      await this.#take(outcome)
      if (this.#live) this.#by = walk
      if (this.#isOver) return
    }
  }

  get #isOver(): boolean {
    return this.#live !== undefined || this.#met !== undefined || this.#left <= 0
  }

  async #tryWalk(labels: readonly string[], walk: Walk): Promise<void> {
    await this.#take(await this.#runIn(this.#cells, labels, walk))
  }

  async #take(outcome: TaskOutcome | Diverged): Promise<void> {
    this.#pay(outcome)
    if (!(outcome instanceof Diverged)) await this.#learn(outcome)
  }

  #runIn(cells: Cells, labels: readonly string[], walk?: Walk): Promise<TaskOutcome | Diverged> {
    return cells.tryRun(this.#taskOf(labels, walk))
  }

  #pay(outcome: TaskOutcome | Diverged): void {
    const steps = outcome instanceof Diverged ? 0 : outcome.schedule.length - this.#schedule.length
    this.#left -= startSteps + Math.max(0, steps)
  }

  #taskOf(labels: readonly string[], walk?: Walk): Task {
    return {
      start: startAfter([...this.#schedule, ...labels]),
      untilViolation: true,
      untilLive: { properties: [this.#options.property], delayMsMax: slowMs, walks: walk ? [walk] : [] },
    }
  }

  async #learn(outcome: TaskOutcome): Promise<void> {
    const { schedule, fingerprints, violation, lastLive } = outcome
    const begin = this.#schedule.length
    if (violation) this.#met ??= outcome
    else if ((lastLive.get(this.#options.property) ?? -1) >= begin) this.#live ??= schedule
    for (let step = begin; step < fingerprints.length && !this.#isOver; step++) {
      const fingerprint = fingerprints[step]
      const way = fingerprint === undefined ? undefined : this.#options.ways?.from(fingerprint)
      if (!way || this.#tried.has(fingerprint!) || this.#tried.size === knownMax) continue
      this.#tried.add(fingerprint!)
      await this.#tryWalk(labelsOf(schedule.slice(begin, step)), walkAgain(way))
    }
  }
}
