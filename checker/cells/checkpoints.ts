import type { Checkpoint } from '../system/system.ts'
import type { Executor, Mark } from './executor.ts'

/** A state by the way to it. */
interface Reached {
  readonly variant: number
  readonly labels: readonly string[]
}

/** A saved state that the system can return to. */
interface Saved extends Reached {
  readonly checkpoint: Checkpoint
  readonly mark: Mark
  /** How often states behind it were requested, by the rest of the way. */
  readonly asked: Asked
  /** Which execution was the last one to begin or to be saved here. */
  usedBy: number
}

/** How often states were requested that are not saved. */
type Asked = Map<string, number>

/** At most this many states are kept. Each takes as much disk space as all processes take memory. */
const savedMax = 4
/** After this many states that could not be saved, and none that could, no more are tried: with files, and without. */
const failuresMax = 8
/** At most this many requests for states are remembered, behind each saved one. */
const askedMax = 1_000
/**
 * A state that is executed faster than this, in milliseconds, is only saved if that takes no files: to save and restore
 * them takes so long.
 */
const filesMsMin = 200
/** Assumed least time of restoring a state before it was measured, in milliseconds. */
const restoreMsMin = 20
/**
 * A state is saved at its first request if executing the way to it takes this many times as long as restoring it: then
 * saving in vain costs little. Any other is saved once executing its way again has cost that many times a restore.
 */
const savedAtOnceFrom = 20
const savedAfterLoss = 2

/**
 * Speeds up executions that share a long beginning, such as walks from behind a critical transition and candidates for
 * a shorter schedule. A state is saved once it was requested a few times; if the way to it is long, the first time. It
 * is saved only if the system can do so, and if a restore takes less time than executing the way from the nearest saved
 * state. If there are too many, the one is discarded whose way takes least, divided by the number of executions since
 * its last use (Blankstein, Sen, Freedman, "Hyperbolic Caching", USENIX ATC 2017). So the state of a long run from
 * which a search begins outlives those that a short examination behind it needs.
 */
export class Checkpoints<State> {
  readonly #executor: Executor<State>
  /** How often states were requested with no saved one on the way. */
  readonly #asked: Asked = new Map()
  #saved: Saved[] = []
  /** How many executions have begun. */
  #begun = 0
  /**
   * States after this many steps or more are not saved: one of them could not be. Mostly processes have too much memory,
   * and more later.
   */
  #savedUpTo = Number.POSITIVE_INFINITY
  /** States that could not be saved since the last one that could, by whether they might have had files. */
  readonly #failures = new Map<boolean, number>()
  /** Variants whose nodes have been started. Their next start is faster, because processes are rewound. */
  readonly #startedVariants = new Set<number>()
  readonly #resetMs = new Average()
  readonly #stepMs = new Average()
  readonly #restoreMs = new Average()
  /** Time that was spent on saving. */
  #savingMs = 0

  constructor(executor: Executor<State>) {
    this.#executor = executor
  }

  /** Starts the nodes ahead of the first execution. An error is ignored here, because the execution will report it. */
  async prepare(): Promise<void> {
    await this.#reset(0).catch(() => {})
    this.#executor.end()
  }

  /** Brings the executor to the initial state, or to the saved state that is furthest along these labels. */
  async begin(labels: readonly string[], variant: number): Promise<void> {
    this.#begun += 1
    await this.#dropLost()
    const nearest = nearestOf(this.#saved, { labels, variant })
    if (nearest === undefined || this.#fromStartMs(nearest.labels.length) < this.#goBackMs) return this.#reset(variant)
    nearest.usedBy = this.#begun
    const begun = performance.now()
    await this.#executor.restore(nearest.checkpoint, nearest.mark)
    this.#restoreMs.add(performance.now() - begun)
  }

  /** Brings the executor to the initial state by a reset, never to a saved state. */
  beginAnew(variant: number): Promise<void> {
    return this.#reset(variant)
  }

  async #reset(variant: number): Promise<void> {
    const isStarted = this.#startedVariants.has(variant)
    this.#startedVariants.add(variant)
    const begun = performance.now()
    await this.#executor.reset(variant)
    if (isStarted) this.#resetMs.add(performance.now() - begun)
  }

  /** Executes the rest of the labels, and saves the state if that pays. */
  async arrive(labels: readonly string[], variant: number, execute: () => Promise<void>): Promise<void> {
    await this.measureSteps(execute)
    await this.consider(labels, variant)
  }

  /** Executes steps, and learns how long one takes. */
  async measureSteps(execute: () => Promise<void>): Promise<void> {
    const { length } = this.#executor.schedule
    const begun = performance.now() - this.#savingMs
    await execute()
    const steps = this.#executor.schedule.length - length
    if (steps > 0) this.#stepMs.add((performance.now() - this.#savingMs - begun) / steps)
  }

  /** Saves the present state, to which these labels lead, if that pays. */
  async consider(labels: readonly string[], variant: number): Promise<void> {
    if (!this.#isWorthSaving(labels, variant)) return
    const begun = performance.now()
    await this.#save(labels, variant)
    this.#savingMs += performance.now() - begun
  }

  /** Frees its resources. */
  async end(): Promise<void> {
    for (const { checkpoint } of this.#saved.splice(0)) await checkpoint.discard()
  }

  async #dropLost(): Promise<void> {
    const lost = this.#saved.filter(({ checkpoint }) => checkpoint.isLost)
    if (lost.length === 0) return
    this.#saved = this.#saved.filter(saved => !lost.includes(saved))
    for (const { checkpoint } of lost) await checkpoint.discard()
  }

  #isWorthSaving(labels: readonly string[], variant: number): boolean {
    const { system, violation, broken } = this.#executor
    if (labels.length >= this.#savedUpTo || !system.checkpoint || violation || broken) return false
    const nearest = nearestOf(this.#saved, { labels, variant })
    const lossMs = this.#lossMs(labels.length, nearest)
    if (lossMs <= 0 || this.#failuresWith(this.#mayHaveFiles(labels)) === failuresMax) return false
    const asked = this.#ask({ labels, variant }, nearest)
    return lossMs >= savedAtOnceFrom * this.#goBackMs || lossMs * asked > savedAfterLoss * this.#goBackMs
  }

  /** How often a state was requested before, behind the nearest saved one. */
  #ask({ labels, variant }: Reached, nearest: Saved | undefined): number {
    const all = nearest?.asked ?? this.#asked
    const key = [variant, ...labels.slice(nearest?.labels.length)].join('\n')
    const asked = all.get(key) ?? 0
    if (all.size === askedMax) all.clear()
    all.set(key, asked + 1)
    return asked
  }

  async #save(labels: readonly string[], variant: number): Promise<void> {
    const mayHaveFiles = this.#mayHaveFiles(labels)
    const checkpoint = await this.#executor.system.checkpoint!(mayHaveFiles)
    if (checkpoint === undefined) {
      this.#failures.set(mayHaveFiles, this.#failuresWith(mayHaveFiles) + 1)
      if (mayHaveFiles) this.#savedUpTo = labels.length
      return
    }
    this.#failures.clear()
    if (this.#saved.length === savedMax) await this.#discardLeast()
    this.#saved.push({
      variant,
      labels,
      checkpoint,
      mark: this.#executor.mark(),
      asked: new Map(),
      usedBy: this.#begun,
    })
  }

  /** Discards the saved state that is worth least. */
  async #discardLeast(): Promise<void> {
    const worths = this.#saved.map(saved => {
      const others = this.#saved.filter(other => other !== saved)
      return this.#lossMs(saved.labels.length, nearestOf(others, saved)) / (1 + this.#begun - saved.usedBy)
    })
    const [least] = this.#saved.splice(worths.indexOf(Math.min(...worths)), 1)
    await least!.checkpoint.discard()
  }

  #failuresWith(mayHaveFiles: boolean): number {
    return this.#failures.get(mayHaveFiles) ?? 0
  }

  #mayHaveFiles(labels: readonly string[]): boolean {
    return this.#fromStartMs(labels.length) >= filesMsMin
  }

  /** Before a state was restored, that is assumed to take as long as a reset. */
  get #goBackMs(): number {
    return this.#restoreMs.value ?? Math.max(restoreMsMin, this.#resetMs.value ?? 0)
  }

  /**
   * Estimated time that each execution from behind this many steps would take longer if that state were not saved, but the
   * nearest other one on the way.
   */
  #lossMs(steps: number, nearest: Saved | undefined): number {
    const fromStartMs = this.#fromStartMs(steps) - this.#goBackMs
    if (nearest === undefined) return fromStartMs
    return Math.min((steps - nearest.labels.length) * (this.#stepMs.value ?? 0), fromStartMs)
  }

  /** Estimated time for executing this many steps from the start. */
  #fromStartMs(steps: number): number {
    return (this.#resetMs.value ?? 0) + steps * (this.#stepMs.value ?? 0)
  }
}

/** The furthest of the saved states on the way to a state. */
const nearestOf = (saved: readonly Saved[], reached: Reached): Saved | undefined =>
  saved.filter(each => isOnTheWay(each, reached)).toSorted((one, other) => other.labels.length - one.labels.length)[0]

const isOnTheWay = (saved: Saved, { labels, variant }: Reached): boolean =>
  saved.variant === variant && saved.labels.every((label, index) => label === labels[index])

/** A moving average of milliseconds, in which the latest measurements count most. */
class Average {
  value: number | undefined

  add(milliseconds: number): void {
    this.value = this.value === undefined ? milliseconds : 0.8 * this.value + 0.2 * milliseconds
  }
}
