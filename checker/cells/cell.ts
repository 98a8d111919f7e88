import type { Chooser, Walk } from '../choosers/chooser.ts'
import { chooserOf } from '../choosers/named.ts'
import { Surprises } from '../choosers/surprise.ts'
import { isHeedless, withoutVainCalls } from '../choosers/vain-calls.ts'
import { defaultWeights, type Weights } from '../choosers/weights.ts'
import type { Budget } from '../system/budget.ts'
import { UsageError } from '../system/errors.ts'
import type { Nodes } from '../system/node-system.ts'
import { labelsTo } from '../system/start.ts'
import type { Checkpoint, System } from '../system/system.ts'
import { Solo } from './alone.ts'
import { bind } from './bounds.ts'
import { Checkpoints } from './checkpoints.ts'
import { type ExecutionObserver, Executor, type Properties } from './executor.ts'
import { beHealthy } from './healthy.ts'
import { attempt, attemptPromptly, attemptShifted, follow } from './schedule.ts'
import type { Arrival, NodeOutcome, NodeTask, Task, TaskOutcome, ToLive, UntilLive, WalkEnd, Watched } from './task.ts'
import { walk } from './walk.ts'

/** A place where executions are done, one at a time: a system in this process, or in another. */
export interface Cell {
  /**
   * Does a task.
   *
   * Throws `BudgetSpent`; `Diverged` if one of its labels is not enabled; `Unfaithful` if the execution does not count;
   * and `UsageError` for a property that throws.
   *
   * @param variant which random numbers the nodes draw
   */
  perform(task: Task, variant: number, budget: Budget): Promise<TaskOutcome>
  /** Executes a node alone; absent if that is not possible. It throws what `perform` throws. */
  performAlone?(task: NodeTask, variant: number, budget: Budget): Promise<NodeOutcome>
  /**
   * From now on, no execution reuses anything of earlier ones. Call it while nothing is performed.
   *
   * @returns false if that was so before
   */
  stopRewinding?(): Promise<boolean>
  /** Makes turns long, as `Processes.lengthenTurns` does. Call it while nothing is performed. */
  lengthenTurns?(): Promise<boolean>
  /** Frees its resources. It performs nothing afterwards. */
  end(): Promise<void>
}

export interface CellOptions<State> {
  readonly weights?: Partial<Weights> | undefined
  /** Whether a crash or divergence of a node only ends an execution, and is no violation. */
  readonly allowFindings?: boolean | undefined
  readonly observer?: ExecutionObserver<State> | undefined
  /** The nodes of the system, if each can be executed alone. */
  readonly nodes?: Nodes<State> | undefined
}

/** A cell whose system is in this process. */
export class OwnCell<State> implements Cell {
  readonly #executor: Executor<State>
  readonly #weights: Weights
  readonly #checkpoints: Checkpoints<State>
  readonly #solo: Solo | undefined

  constructor(system: System<State>, properties: Properties<State>, options: CellOptions<State> = {}) {
    const { weights, nodes, ...others } = options
    this.#solo = nodes && new Solo(nodes, (labels, variant) => this.#markAt(labels, variant))
    this.#executor = new Executor(system, properties, { ...others, tellsSights: true })
    this.#weights = { ...defaultWeights, ...weights }
    this.#checkpoints = new Checkpoints(this.#executor)
  }

  /** Call it while there is nothing to perform: the first start of the nodes takes ten times as long as later ones. */
  prepare(): Promise<void> {
    return this.#checkpoints.prepare()
  }

  async perform(task: Task, variant: number, budget: Budget): Promise<TaskOutcome> {
    const executor = this.#executor
    this.#solo?.forget()
    executor.budget = budget
    bind(executor.system, task)
    const [begun, left] = [performance.now(), budget.milliseconds]
    try {
      const arrival = await this.#arrive(task, variant)
      const surprises = new Surprises(task.surprises ?? [])
      const watched: Watched[] = []
      const until = task.timeShareMax === undefined ? Number.POSITIVE_INFINITY : begun + task.timeShareMax * left
      const walking = { task, surprises, watched, vain: noneInVain, until }
      const throughCalls = await this.#walkBefore(task, walking)
      const wasHealthy = await beHealthy(executor, task.healthy ?? [])
      const toLive =
        wasHealthy || !task.untilLive ? undefined : await this.#walkUntilLive(task.untilLive, walking, throughCalls)
      if (task.isWatched) watched.push(this.#watch())
      const { schedule, fingerprints, violation, finding, delayMs, skewMs, lastLive, system, nearest } = executor
      const learned = task.surprises ? surprises.learned() : []
      const [undecided] = executor.undecided.values()
      const sights = [...(system.sights?.() ?? []), ...executor.sights()]
      const abstraction = system.abstraction ?? 'observed'
      const seen = task.isWatched ? { watched } : {}
      const what = {
        schedule,
        fingerprints,
        abstraction,
        violation,
        finding,
        undecided,
        delayMs,
        skewMs,
        lastLive,
        nearest,
      }
      // What an examination comes to is executed on new processes in the end.
      if (isOfSearch(task) && !violation) await executor.audit()
      return { ...what, arrival, toLive, sights, calls: executor.calls, surprises: learned, ...seen }
    } finally {
      executor.end()
    }
  }

  async performAlone(task: NodeTask, variant: number, budget: Budget): Promise<NodeOutcome> {
    if (this.#solo === undefined) throw new UsageError('no node of this system can be executed alone')
    this.#executor.budget = budget
    try {
      return await this.#solo.perform(task, variant, budget)
    } finally {
      this.#executor.end()
    }
  }

  /** Marks the state after a schedule, in place. */
  async #markAt(labels: readonly string[], variant: number): Promise<Checkpoint | undefined> {
    const executor = this.#executor
    await this.#checkpoints.begin(labels, variant)
    await follow(executor, labels.slice(executor.schedule.length))
    return executor.broken ? undefined : executor.system.checkpoint?.(false)
  }

  /** Goes to the start of the task: by a reset and all steps, or from a saved state on the way. */
  async #arrive(task: Task, variant: number): Promise<Arrival> {
    const { start, isAnew, isOnNewProcesses, delayMsMax, skewMsMax } = task
    const executor = this.#executor
    if (isOnNewProcesses) executor.system.processes?.endLives()
    let skipped: readonly number[] = []
    if (start.at === 'schedule' && start.isLenient) {
      const sooner = [
        ...(delayMsMax === undefined ? [] : ['deliver' as const]),
        ...(skewMsMax === undefined ? [] : ['timer' as const]),
      ]
      if (sooner.length === 0 && !start.isShifted) skipped = await this.#attempt(start.labels, variant)
      else {
        await executor.reset(variant)
        if (start.isShifted) await attemptShifted(executor, start.labels)
        else await attemptPromptly(executor, start.labels, sooner)
      }
    } else {
      const labels = labelsTo(start)
      if (isAnew) await this.#checkpoints.beginAnew(variant)
      else await this.#checkpoints.begin(labels, variant)
      const left = labels.slice(executor.schedule.length)
      await this.#checkpoints.arrive(labels, variant, () => follow(executor, left))
    }
    const enabled = executor.enabled()
    return {
      steps: executor.schedule.length,
      enabled,
      since: enabled.map(({ label }) => executor.offeredSince(label)),
      history: executor.system.history?.(),
      offered: [...executor.offeredAfter],
      skipped,
      broken: executor.broken,
    }
  }

  /**
   * Executes those of these labels that are enabled in their turn. Candidates for a shorter schedule have long beginnings
   * in common, so states on the way are saved, at ever larger distances.
   *
   * @returns the places of those that were skipped
   */
  async #attempt(labels: readonly string[], variant: number): Promise<number[]> {
    const executor = this.#executor
    await this.#checkpoints.begin(labels, variant)
    const begun = executor.schedule.length
    const consider = async () => {
      const steps = executor.schedule.length
      if (Number.isInteger(Math.log2(steps)) || steps === labels.length)
        await this.#checkpoints.consider(executor.labels(), variant)
    }
    let skipped: readonly number[] = []
    await this.#checkpoints.measureSteps(async () => {
      skipped = await attempt(executor, labels.slice(begun), consider)
    })
    return skipped.map(place => begun + place)
  }

  /** @returns of a walk to the end of all calls, after how many steps each property had held; undefined if there was none */
  async #walkBefore(task: Task, walking: Walking): Promise<ThroughCalls | undefined> {
    const { walks = [], untilLive } = task
    let through: ThroughCalls | undefined
    for (const each of walks) {
      const begin = this.#executor.schedule.length
      let lived: number | undefined
      const note = () => {
        if (lived === undefined && untilLive && this.#hasLived(untilLive, begin)) lived = this.#stepsSince(begin)
        return false
      }
      await this.#walk(each, { ...walking, vain: vainFor(each, task) }, note)
      if (each.callsMax !== undefined) through = { begin, lived }
    }
    return through
  }

  #stepsSince(begin: number): number {
    return this.#executor.schedule.length - begin
  }

  #hasLived({ properties }: UntilLive, since: number): boolean {
    return properties.every(name => (this.#executor.lastLive.get(name) ?? -1) >= since)
  }

  async #walkUntilLive(until: UntilLive, walking: Walking, through: ThroughCalls | undefined): Promise<ToLive> {
    const { stepsMin = 0, delayMsMax, walks } = until
    const { schedule, system } = this.#executor
    if (delayMsMax !== undefined) system.setDelayMsMax?.(delayMsMax)
    const isBound = delayMsMax !== undefined && system.setDelayMsMax !== undefined
    const begin = schedule.length
    const isLive = () => this.#hasLived(until, begin + stepsMin)
    let end: WalkEnd = 'length'
    for (const each of walks) if (end === 'length') end = await this.#walk(each, walking, isLive)
    // The goal of the last walk is also the goal of the whole execution.
    const before = through ? (through.lived ?? this.#stepsSince(through.begin)) : 0
    const steps = Math.max(before, this.#stepsSince(begin))
    return { begin, steps, end: isLive() ? 'goal' : end === 'goal' ? 'over' : end, isBound }
  }

  async stopRewinding(): Promise<boolean> {
    await this.#solo?.end()
    await this.#checkpoints.end()
    return this.#executor.system.processes?.stopRewinding() ?? true
  }

  async lengthenTurns(): Promise<boolean> {
    await this.#solo?.end()
    await this.#checkpoints.end()
    return this.#executor.system.processes?.lengthenTurns() ?? false
  }

  async end(): Promise<void> {
    await this.#solo?.end()
    await this.#checkpoints.end()
  }

  #walk(how: Walk, { task, surprises, watched, vain, until }: Walking, goal: () => boolean): Promise<WalkEnd> {
    const executor = this.#executor
    const choose = chooserOf(how, this.#weights, surprises)
    const chooser: Chooser = enabled => {
      if (task.surprises) surprises.note(enabled)
      if (task.isWatched) watched.push(this.#watch())
      return choose(withoutVainCalls(enabled, () => executor.system.situation?.(), vain))
    }
    const isOver = () => task.untilViolation === true && (executor.violation !== undefined || executor.broken)
    return walk(executor, chooser, how.length, () => goal() || isOver(), { ...how, until })
  }

  #watch(): Watched {
    const { system } = this.#executor
    return {
      enabled: this.#executor.enabled(),
      parts: system.parts?.() ?? { state: system.fingerprint() ?? '' },
      printed: system.printed?.() ?? {},
    }
  }
}

const isOfSearch = ({ surprises, isWatched }: Task): boolean => surprises !== undefined || isWatched === true

/** A walk to the end of all calls: where it began, and after how many steps each liveness property had held. */
interface ThroughCalls {
  readonly begin: number
  readonly lived: number | undefined
}

/** What the walks of an execution have in common. */
interface Walking {
  readonly task: Task
  readonly surprises: Surprises
  readonly watched: Watched[]
  /** Where no calls are made, because they only ever failed. */
  readonly vain: ReadonlySet<string>
  /** When walks end at the latest, by `performance.now()`. */
  readonly until: number
}

const noneInVain: ReadonlySet<string> = new Set()

const vainFor = ({ seed }: Walk, { vain = [] }: Task): ReadonlySet<string> =>
  vain.length === 0 || isHeedless(seed) ? noneInVain : new Set(vain)
