import { Budget, BudgetSpent, type Limits } from './budget.ts'
import type { Executor } from './executor.ts'
import { attempt, reach } from './schedule.ts'
import { type Choice, faultKinds } from './system.ts'

/** Whether the execution that has just ended violates as the one to be minimised did. It may execute more. */
export type StillViolates = () => Promise<boolean>

export interface Minimum {
  readonly schedule: readonly Choice[]
  /** Executions that it took. */
  readonly executions: number
  /** Whether no smaller schedule was left to try within the rules; `false` where the budget was spent before. */
  readonly minimal: boolean
}

/**
 * The shortest schedule found that still violates. First it leaves out what leads from a state to the same one, then tries
 * to do without faults, then drops steps by delta debugging (ddmin: Zeller, Hildebrandt, "Simplifying and Isolating
 * Failure-Inducing Input", TSE 2002), then replaces overlaps by their parts one after the other. Each candidate is executed
 * leniently: what a dropped step would have enabled is skipped. The result is 1-minimal: no single step can be dropped.
 *
 * The schedule must violate. Everything is deterministic, so the same schedule comes to the same one.
 */
export const minimise = async <State>(
  executor: Executor<State>,
  schedule: readonly Choice[],
  stillViolates: StillViolates,
  limits: Limits = {},
): Promise<Minimum> => {
  const minimiser = new Minimiser(executor, schedule, stillViolates)
  const before = executor.counts.executions
  let minimal = true
  try {
    await executor.within(new Budget(limits), () => minimiser.minimise())
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    minimal = false
  }
  const executions = executor.counts.executions - before
  return { schedule: minimiser.best, executions, minimal }
}

class Minimiser<State> {
  best: readonly Choice[]
  readonly #executor: Executor<State>
  readonly #stillViolates: StillViolates
  readonly #tried = new Set<string>()
  #bestStates: readonly (string | undefined)[] = []

  constructor(executor: Executor<State>, schedule: readonly Choice[], stillViolates: StillViolates) {
    this.#executor = executor
    this.#stillViolates = stillViolates
    this.best = schedule
  }

  async minimise(): Promise<void> {
    await this.#dropLoops()
    await this.#dropFaults()
    do await this.#dropSteps()
    while (await this.#splitOverlap())
  }

  /** The longest loop first; where it could not go, the shorter ones are left to what comes. */
  async #dropLoops(): Promise<void> {
    await reach(this.#executor, labelsOf(this.best))
    let [begin, end] = longestLoop(this.#executor.fingerprints)
    while (begin < end && (await this.#try([...this.best.slice(0, begin), ...this.best.slice(end)])))
      [begin, end] = longestLoop(this.#bestStates)
  }

  async #dropFaults(): Promise<void> {
    await this.#try(this.best.filter(choice => !isFault(choice)))
    for (const fault of this.best.filter(isFault)) await this.#try(this.best.filter(choice => choice !== fault))
  }

  /** ddmin over complements: drops ever smaller chunks until no single step can go. */
  async #dropSteps(): Promise<void> {
    let size = Math.ceil(this.best.length / 2)
    while (size >= 1) {
      let dropped = false
      // From the end: what is last matters least to what comes before.
      for (let end = this.best.length; end > 0; end -= size) {
        const start = Math.max(0, end - size)
        const candidate = [...this.best.slice(0, start), ...this.best.slice(end)]
        if (!(await this.#try(candidate))) continue
        dropped = true
        end = Math.min(end, this.best.length + size)
      }
      if (size > 1) size = Math.floor(size / 2)
      else if (!dropped) return
    }
  }

  async #splitOverlap(): Promise<boolean> {
    for (const [i, overlap] of this.best.entries()) {
      const parts = overlap.joins?.map(label => ({ ...overlap, kind: 'deliver' as const, label, joins: [] }))
      if (!parts) continue
      const labels = [...this.best.slice(0, i), ...parts, ...this.best.slice(i + 1)]
      if (await this.#try(labels)) return true
    }
    return false
  }

  /** Executes a candidate; where it still violates, what was executed of it becomes the best. */
  async #try(candidate: readonly Choice[]): Promise<boolean> {
    const labels = labelsOf(candidate)
    const key = labels.join('\n')
    if (this.#tried.has(key)) return false
    this.#tried.add(key)
    await this.#executor.reset()
    await attempt(this.#executor, labels)
    const { schedule, fingerprints } = this.#executor
    const [executed, states] = [[...schedule], [...fingerprints]]
    if (!(await this.#stillViolates())) return false
    this.best = executed
    this.#bestStates = states
    return true
  }
}

const labelsOf = (schedule: readonly Choice[]): string[] => schedule.map(choice => choice.label)

/** Where a state is and where it is met again, as far apart as there is one; `[0, 0]` where there is none. */
const longestLoop = (states: readonly (string | undefined)[]): [begin: number, end: number] =>
  states.reduce<[number, number]>(
    (longest, state, end) => {
      const begin = state === undefined ? end : states.indexOf(state)
      return end - begin > longest[1] - longest[0] ? [begin, end] : longest
    },
    [0, 0],
  )

const isFault = (choice: Choice): boolean => faultKinds.includes(choice.kind)
