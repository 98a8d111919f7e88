import { Budget, BudgetSpent } from './budget.ts'
import { type Critical, type CriticalOptions, confirmCriticalTransition, findCriticalTransition } from './critical.ts'
import { Diverged } from './errors.ts'
import { type Executor, headline, type Violation } from './executor.ts'
import { oldestFirst } from './oldest-first.ts'
import type { Progress } from './options.ts'
import type { Random } from './random.ts'
import { Scouts } from './recovery.ts'
import { reach, repeat } from './schedule.ts'
import { shrinkDeath, shrinkViolation } from './shrink.ts'
import type { Verdict } from './verdict.ts'
import type { Weights } from './weights.ts'

/** The part of a verdict that says what was found. */
export type Found = Pick<
  Verdict,
  'verdict' | 'property' | 'kind' | 'schedule' | 'criticalTransition' | 'repeated' | 'message' | 'closestLive'
>

export interface ExaminationOptions {
  /** Walks behind a critical transition. */
  readonly walks: number
  /** The most steps that walks are made to have where shorter ones do not tell. */
  readonly walkLengthMax: number
  readonly weights: Weights
  readonly random: Random
  readonly signal: AbortSignal | undefined
  readonly onPhase: (phase: Progress['phase']) => void
}

const shrinkMs = 30_000
/** Dead states are dear: each candidate that is dead costs the walks that show it. */
const shrinkDeadMs = 15_000
const orderMs = 10_000
const criticalMs = 300_000
/** Of the walks that a critical transition is to stand on, for the one that is to be shrunk. */
const firstShare = 1 / 4

/** Looks again at what a search suspects, with budgets of its own, and reports only what repeats. */
export class Examination<State> {
  /** One line for each thing that did not repeat. */
  readonly notRepeated: string[] = []
  readonly #executor: Executor<State>
  readonly #options: ExaminationOptions

  constructor(executor: Executor<State>, options: ExaminationOptions) {
    this.#executor = executor
    this.#options = options
  }

  /** Examines the violation at the end of the present execution; `undefined` where it does not repeat. */
  async examineViolation(violation: Violation): Promise<Found | undefined> {
    const found = this.#executor.schedule.slice(0, violation.step)
    const schedule = found.map(choice => choice.label)
    this.#options.onPhase('repeating')
    const again = await this.#repeat(schedule, violation)
    if (again !== undefined) {
      this.notRepeated.push(`${headline(violation.message)}; executed again, it ${again}`)
      return undefined
    }
    this.#options.onPhase('shrinking')
    const limits = { milliseconds: shrinkMs, signal: this.#options.signal }
    const shortest = await shrinkViolation(this.#executor, found, violation, limits)
    return {
      verdict: 'violated',
      property: violation.property ?? null,
      kind: violation.kind,
      schedule: shortest.schedule.map(choice => choice.label),
      criticalTransition: null,
      repeated: true,
      message: shortest.message,
      closestLive: null,
    }
  }

  /** Executes a violating schedule again. `undefined`: it violates the same at the same step; else what it did instead. */
  async #repeat(schedule: readonly string[], violation: Violation): Promise<string | undefined> {
    try {
      await repeat(this.#executor, schedule)
    } catch (error) {
      if (error instanceof Diverged) return error.message
      throw error
    }
    const again = this.#executor.violation
    if (again && isSame(again, violation) && again.step === schedule.length) return undefined
    return again ? `came to another violation: ${headline(again.message)}` : 'did not violate it'
  }

  /**
   * Examines the present execution, in which a liveness property was not live for the length of a walk. `transient`: it
   * recovers, and violates nothing. `undefined`: it does not repeat.
   */
  async examineLiveness(property: string, walkLength: number): Promise<Found | 'transient' | undefined> {
    const suspect = this.#executor.labels()
    this.#options.onPhase('finding the critical transition')
    try {
      const budget = new Budget({ milliseconds: criticalMs, signal: this.#options.signal })
      return await this.#executor.within(budget, () => this.#examineDeath(suspect, property, walkLength))
    } catch (error) {
      if (error instanceof BudgetSpent) return unfinished(property, suspect)
      if (!(error instanceof Diverged)) throw error
      this.notRepeated.push(`${property} was not live for ${walkLength} steps; executed again, it ${error.message}`)
      return undefined
    }
  }

  /** Finds the critical transition with some of the walks, shrinks the way to it, and tests it there with all of them. */
  async #examineDeath(suspect: readonly string[], property: string, walkLength: number): Promise<Found | 'transient'> {
    const executor = this.#executor
    const { walks, signal } = this.#options
    const some = this.#criticalOptions(property, walkLength, Math.ceil(walks * firstShare))
    const first = await findCriticalTransition(executor, suspect, some)
    if (first.case === 'transient') return 'transient'
    if (first.case === 'C2') return describe(property, suspect, first)
    const shrinking = { ...some, walkLength: first.walkLength }
    const shortest = await this.#shrinkDeath(suspect.slice(0, first.step), shrinking)
    const ordered = await oldestFirst(executor, shortest, { milliseconds: orderMs, signal })
    this.#options.onPhase('finding the critical transition')
    const all = { ...shrinking, walks }
    const again = await confirmCriticalTransition(executor, ordered, all)
    if (again.case === 'C1') return describe(property, ordered, again)
    const whole = await findCriticalTransition(executor, suspect, all)
    return whole.case === 'transient' ? 'transient' : describe(property, suspect, whole)
  }

  #criticalOptions(property: string, walkLength: number, walks: number): CriticalOptions {
    const { weights, random, walkLengthMax } = this.#options
    return { property, walks, scouts: new Scouts(), walkLength, walkLengthMax, weights, random }
  }

  /** The shortest schedule found to a state that seems as dead. */
  async #shrinkDeath(schedule: readonly string[], recovery: CriticalOptions): Promise<readonly string[]> {
    const executor = this.#executor
    this.#options.onPhase('shrinking')
    await reach(this.#executor, schedule)
    const limits = { milliseconds: shrinkDeadMs, signal: this.#options.signal }
    const { schedule: shortest } = await shrinkDeath(executor, [...executor.schedule], recovery, limits)
    return shortest.map(choice => choice.label)
  }
}

const isSame = (one: Violation, other: Violation): boolean => one.kind === other.kind && one.property === other.property

const describe = (property: string, schedule: readonly string[], critical: Critical): Found => {
  const { step, walks, walkLength, closestLive } = critical
  const label = step === 0 ? '(initial state)' : schedule[step - 1]!
  const isDead = critical.case === 'C1'
  return {
    verdict: isDead ? 'violated' : 'undetermined',
    property,
    kind: 'liveness',
    schedule: schedule.slice(0, step),
    criticalTransition: { step, label, case: isDead ? 'C1' : 'C2', walks, walkLength },
    repeated: true,
    message: isDead ? describeDeath(property, label, critical) : describeDoubt(property, walkLength),
    closestLive: closestLive ?? null,
  }
}

const describeDeath = (property: string, label: string, { step, walks, walkLength }: Critical): string => {
  const missed = (0.95 ** walks * 100).toPrecision(2)
  return (
    `${property} can never hold again after step ${step} (${label}): none of ${walks} walks of up to ${walkLength} steps ` +
    `recovered (a state from which one walk in twenty recovers would be called dead with a chance of ${missed} %)`
  )
}

const describeDoubt = (property: string, walkLength: number): string =>
  `${property} did not come to hold, and walks of up to ${walkLength} steps are too short to tell whether it ever can (case C2)`

const unfinished = (property: string, schedule: readonly string[]): Found => ({
  verdict: 'undetermined',
  property,
  kind: 'liveness',
  schedule,
  criticalTransition: null,
  repeated: false,
  message: `${property} did not come to hold, and the time was over before a critical transition was found`,
  closestLive: null,
})
