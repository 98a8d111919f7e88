import type { Budget } from './budget.ts'
import { Checkpoints } from './checkpoints.ts'
import { Executor, type Observer, type Properties } from './executor.ts'
import { policyOf } from './manners.ts'
import { attempt, follow } from './schedule.ts'
import { Surprises } from './surprise.ts'
import type { System } from './system.ts'
import type { Arrival, Leg, Outcome, Task, UntilLive } from './task.ts'
import { type WalkEnd, walk } from './walk.ts'
import { defaultWeights, type Policy, type Weights } from './weights.ts'

/** Where executions are done, one at a time: a system here, or in another process. */
export interface Cell {
  /**
   * Does a task.
   *
   * Throws `BudgetSpent`, `Diverged` where a label of it is not enabled, `Unfaithful` where the execution does not
   * count, and `UsageError` for a property that throws.
   *
   * @param variant which random numbers the nodes draw
   */
  perform(task: Task, variant: number, budget: Budget): Promise<Outcome>
  /** Frees what it holds. It performs nothing any more. */
  end(): Promise<void>
}

export interface CellOptions<State> {
  readonly weights?: Partial<Weights> | undefined
  /** Whether a crash or a divergence of a node ends an execution without being a violation. */
  readonly allowFindings?: boolean | undefined
  readonly observer?: Observer<State> | undefined
}

/** A cell with a system of this process. */
export class OwnCell<State> implements Cell {
  readonly #executor: Executor<State>
  readonly #weights: Weights
  readonly #checkpoints: Checkpoints<State>

  constructor(system: System<State>, properties: Properties<State>, options: CellOptions<State> = {}) {
    const { weights, ...others } = options
    this.#executor = new Executor(system, properties, others)
    this.#weights = { ...defaultWeights, ...weights }
    this.#checkpoints = new Checkpoints(this.#executor)
  }

  /** To be called while there is nothing to perform: the first start of nodes takes ten times as long as the others. */
  prepare(): Promise<void> {
    return this.#checkpoints.prepare()
  }

  async perform(task: Task, variant: number, budget: Budget): Promise<Outcome> {
    const executor = this.#executor
    executor.budget = budget
    executor.system.setPatience?.(task.patience ?? 1)
    try {
      const arrival = await this.#arrive(task, variant)
      const surprises = new Surprises(task.surprises ?? [])
      for (const leg of task.legs ?? []) await this.#walk(leg, task, surprises, () => false)
      const toLive = task.untilLive && (await this.#walkUntilLive(task.untilLive, task, surprises))
      const { schedule, fingerprints, violation, broken, lastLive } = executor
      const learned = task.surprises ? surprises.learned() : []
      return { schedule, fingerprints, violation, broken, lastLive, arrival, toLive, surprises: learned }
    } finally {
      executor.end()
    }
  }

  /** Executes the labels from the start, or from a state on the way that was saved. */
  async #arrive({ labels, isLenient }: Task, variant: number): Promise<Arrival> {
    const executor = this.#executor
    if (isLenient) {
      await executor.reset(variant)
      await attempt(executor, labels)
    } else {
      await this.#checkpoints.begin(labels, variant)
      const left = labels.slice(executor.schedule.length)
      await this.#checkpoints.arrive(labels, variant, () => follow(executor, left))
    }
    return {
      steps: executor.schedule.length,
      enabled: executor.enabled(),
      offered: executor.schedule.map(({ label }) => executor.offeredSince.get(label)!),
      broken: executor.broken,
    }
  }

  async #walkUntilLive({ properties, stepsMin = 0, legs }: UntilLive, task: Task, surprises: Surprises) {
    const { lastLive, schedule } = this.#executor
    const begin = schedule.length
    const isLive = () => properties.every(name => (lastLive.get(name) ?? -1) >= begin + stepsMin)
    let end: WalkEnd = 'length'
    for (const leg of legs) if (end === 'length') end = await this.#walk(leg, task, surprises, isLive)
    return { begin, end: isLive() ? 'goal' : end } as const
  }

  end(): Promise<void> {
    return this.#checkpoints.end()
  }

  #walk(leg: Leg, task: Task, surprises: Surprises, goal: () => boolean): Promise<WalkEnd> {
    const executor = this.#executor
    const policy = policyOf(leg, this.#weights, surprises)
    const watching: Policy = enabled => {
      surprises.note(enabled)
      return policy(enabled)
    }
    const isOver = () => task.untilViolation === true && (executor.violation !== undefined || executor.broken)
    return walk(executor, task.surprises ? watching : policy, leg.length, () => goal() || isOver())
  }
}
