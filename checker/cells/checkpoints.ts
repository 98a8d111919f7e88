import type { Checkpoint } from '../system.ts'
import type { Executor, Mark } from './executor.ts'

/** A state of the system that can be gone back to. */
interface Saved {
  readonly variant: number
  readonly labels: readonly string[]
  readonly checkpoint: Checkpoint
  readonly mark: Mark
}

/** So many are kept: each takes the memory of all processes on the disk. */
const savedMax = 4
/** So many states are remembered for having been asked for. */
const askedMax = 1_000
/** What going back is thought to cost before it was measured, in milliseconds: nothing is saved that is sooner executed. */
const restoreMsGuess = 200

/**
 * Where executions begin that share a long way: those behind a critical transition, and candidates for a shorter one. A
 * state that is asked for a second time is saved, if the system can do that and it takes less time to go back there than
 * to execute the way again; where there are too many, the one that was not used for longest goes.
 */
export class Checkpoints<State> {
  readonly #executor: Executor<State>
  readonly #asked = new Set<string>()
  /** What was used last comes last. */
  #saved: Saved[] = []
  #cannot = false
  /** The nodes of these have been started: from then on they may be brought back to where they began, in no time. */
  readonly #startedVariants = new Set<number>()
  readonly #resetMs = new Average()
  readonly #stepMs = new Average()
  readonly #restoreMs = new Average()

  constructor(executor: Executor<State>) {
    this.#executor = executor
  }

  /** Starts the nodes, so that they need not be started when something is to be executed. What fails will fail again then. */
  async prepare(): Promise<void> {
    await this.#reset(0).catch(() => {})
    this.#executor.end()
  }

  /** Brings the executor to the begin of these labels, or as far beyond it as something was saved. */
  async begin(labels: readonly string[], variant: number): Promise<void> {
    const nearest = this.#nearest(labels, variant)
    if (nearest === undefined || this.#costMs(nearest.labels.length) < this.#goBackMs) return this.#reset(variant)
    this.#saved = [...this.#saved.filter(saved => saved !== nearest), nearest]
    await this.#restoreMs.measure(1, () => this.#executor.restore(nearest.checkpoint, nearest.mark))
  }

  /** Brings it to the initial state by a reset, and not to one that was saved. */
  beginAnew(variant: number): Promise<void> {
    return this.#reset(variant)
  }

  async #reset(variant: number): Promise<void> {
    const isStarted = this.#startedVariants.has(variant)
    this.#startedVariants.add(variant)
    await this.#resetMs.measure(isStarted ? 1 : 0, () => this.#executor.reset(variant))
  }

  /** Executes what leads to the end of labels, and saves that state where it is worth it. */
  async arrive(labels: readonly string[], variant: number, execute: () => Promise<void>): Promise<void> {
    await this.#stepMs.measure(labels.length - this.#executor.schedule.length, execute)
    if (this.#isWorthSaving(labels, variant)) await this.#save(labels, variant)
  }

  /** Frees what it holds. */
  async end(): Promise<void> {
    for (const { checkpoint } of this.#saved.splice(0)) await checkpoint.discard()
  }

  #nearest(labels: readonly string[], variant: number): Saved | undefined {
    const onTheWay = this.#saved.filter(saved => isOnTheWay(saved, labels, variant))
    return onTheWay.toSorted((one, other) => other.labels.length - one.labels.length)[0]
  }

  #isWorthSaving(labels: readonly string[], variant: number): boolean {
    const { system, violation, broken } = this.#executor
    if (this.#cannot || !system.checkpoint || violation || broken) return false
    if (this.#costMs(labels.length) < this.#goBackMs) return false
    const key = [variant, ...labels].join('\n')
    if (this.#asked.has(key)) return this.#nearest(labels, variant)?.labels.length !== labels.length
    if (this.#asked.size === askedMax) this.#asked.clear()
    this.#asked.add(key)
    return false
  }

  async #save(labels: readonly string[], variant: number): Promise<void> {
    const checkpoint = await this.#executor.system.checkpoint!()
    this.#cannot = checkpoint === undefined
    if (checkpoint === undefined) return
    this.#saved.push({ variant, labels, checkpoint, mark: this.#executor.mark() })
    if (this.#saved.length > savedMax) await this.#saved.shift()!.checkpoint.discard()
  }

  get #goBackMs(): number {
    return this.#restoreMs.value ?? restoreMsGuess
  }

  /** Of executing so many steps from the start. */
  #costMs(steps: number): number {
    return (this.#resetMs.value ?? 0) + steps * (this.#stepMs.value ?? 0)
  }
}

const isOnTheWay = (saved: Saved, labels: readonly string[], variant: number): boolean =>
  saved.variant === variant && saved.labels.every((label, index) => label === labels[index])

/** Milliseconds that something takes, the last times more than those before. */
class Average {
  value: number | undefined

  async measure(count: number, work: () => Promise<void>): Promise<void> {
    const begun = performance.now()
    await work()
    if (count <= 0) return
    const each = (performance.now() - begun) / count
    this.value = this.value === undefined ? each : 0.8 * this.value + 0.2 * each
  }
}
