import { BudgetSpent, type Limits } from './budget.ts'
import type { Cells } from './cells.ts'
import { type Critical, type CriticalOptions, confirmCriticalTransition, findCriticalTransition } from './critical.ts'
import { Diverged } from './errors.ts'
import { headline, type Violation } from './executor.ts'
import { labelsOf } from './labels.ts'
import { oldestFirst } from './oldest-first.ts'
import type { Progress } from './options.ts'
import type { Random } from './random.ts'
import { Scouts } from './recovery.ts'
import { shrinkDeath, shrinkViolation } from './shrink.ts'
import type { Choice } from './system.ts'
import type { Verdict } from './verdict.ts'

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
  readonly random: Random
  /** Whether time is a limit here too; else steps are, and the same is found however fast the machine is. */
  readonly isTimed: boolean
  readonly signal: AbortSignal | undefined
  readonly onPhase: (phase: Progress['phase']) => void
}

/** Of walks, in steps. */
export interface Lengths {
  /** Of the one in which a property was not live. */
  readonly walkLength: number
  /** Of each of the many that look for a live state from one state, to begin with. */
  readonly recoveryLength: number
}

const shrinkLimits: Limits = { steps: 20_000, milliseconds: 30_000 }
/** Dead states are dear: each candidate that is dead costs the walks that show it. */
const shrinkDeadLimits: Limits = { steps: 50_000, milliseconds: 15_000 }
const orderLimits: Limits = { steps: 10_000, milliseconds: 10_000 }
const criticalLimits: Limits = { steps: 500_000, milliseconds: 300_000 }
/** Of the walks that a critical transition is to stand on, for the one that is to be shrunk. */
const firstShare = 1 / 4

/** Looks again at what a search suspects, with budgets of its own, and reports only what repeats. */
export class Examination {
  /** One line for each thing that did not repeat. */
  readonly notRepeated: string[] = []
  readonly #options: ExaminationOptions

  constructor(options: ExaminationOptions) {
    this.#options = options
  }

  /** Examines an execution that came to a violation; `undefined` where it does not repeat. */
  async examineViolation(cells: Cells, schedule: readonly Choice[], violation: Violation): Promise<Found | undefined> {
    const { signal, onPhase } = this.#options
    onPhase('repeating')
    const came = await this.#repeat(cells.within({ signal }), labelsOf(schedule), violation)
    if (came !== undefined) {
      this.notRepeated.push(`${headline(violation.message)}; executed again, it ${came}`)
      return undefined
    }
    onPhase('shrinking')
    const shortest = await shrinkViolation(cells, schedule, violation, this.#within(shrinkLimits))
    return {
      verdict: 'violated',
      property: violation.property ?? null,
      kind: violation.kind,
      schedule: labelsOf(shortest.schedule),
      criticalTransition: null,
      repeated: true,
      message: shortest.message,
      closestLive: null,
    }
  }

  /** Executes a violating schedule again. `undefined`: it violates the same at the same step; else what it did instead. */
  async #repeat(cells: Cells, labels: readonly string[], violation: Violation): Promise<string | undefined> {
    const came = await cells.tryRun({ labels })
    if (came instanceof Diverged) return came.message
    const again = came.violation
    if (again && isSame(again, violation) && again.step === labels.length) return undefined
    return again ? `came to another violation: ${headline(again.message)}` : 'did not violate it'
  }

  /**
   * Examines an execution in which a liveness property was not live for the length of a walk. `transient`: it recovers,
   * and violates nothing. `undefined`: it does not repeat.
   */
  async examineLiveness(
    cells: Cells,
    suspect: readonly Choice[],
    property: string,
    lengths: Lengths,
  ): Promise<Found | 'transient' | undefined> {
    const { onPhase } = this.#options
    onPhase('finding the critical transition')
    try {
      return await this.#examineDeath(cells.within(this.#within(criticalLimits)), suspect, property, lengths)
    } catch (error) {
      if (error instanceof BudgetSpent) return unfinished(property, labelsOf(suspect))
      if (!(error instanceof Diverged)) throw error
      this.notRepeated.push(
        `${property} was not live for ${lengths.walkLength} steps; executed again, it ${error.message}`,
      )
      return undefined
    }
  }

  /** Finds the critical transition with some of the walks, shrinks the way to it, and tests it there with all of them. */
  async #examineDeath(
    cells: Cells,
    suspect: readonly Choice[],
    property: string,
    { walkLength, recoveryLength }: Lengths,
  ): Promise<Found | 'transient'> {
    const { walks, walkLengthMax, random, onPhase } = this.#options
    const schedule = labelsOf(suspect)
    const some = {
      property,
      walks: Math.ceil(walks * firstShare),
      scouts: new Scouts(),
      walkLength: recoveryLength,
      suspectLength: walkLength,
      walkLengthMax,
      random,
    }
    const first = await findCriticalTransition(cells, schedule, some)
    if (first.case === 'transient') return 'transient'
    if (first.case === 'C2') return describe(property, schedule, first)
    const all: CriticalOptions = { ...some, walkLength: first.walkLength, walks }
    onPhase('shrinking')
    const shortest = await this.#shrinkDeath(cells, suspect.slice(0, first.step), all)
    onPhase('finding the critical transition')
    const again = await confirmCriticalTransition(cells, shortest, all)
    if (again.case === 'C1') return describe(property, shortest, again)
    const whole = await findCriticalTransition(cells, schedule, all)
    return whole.case === 'transient' ? 'transient' : describe(property, schedule, whole)
  }

  #within({ steps, milliseconds }: Limits): Limits {
    const { isTimed, signal } = this.#options
    return { signal, ...(isTimed ? { milliseconds } : { steps }) }
  }

  /** The shortest schedule found to a state that seems as dead, what has waited longest first. */
  async #shrinkDeath(cells: Cells, found: readonly Choice[], options: CriticalOptions): Promise<readonly string[]> {
    const recovery = { ...options, walks: options.scouts.count }
    const { schedule } = await shrinkDeath(cells, found, recovery, this.#within(shrinkDeadLimits))
    return oldestFirst(cells, labelsOf(schedule), this.#within(orderLimits))
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
  message: `${property} did not come to hold, and the budget was spent before a critical transition was found`,
  closestLive: null,
})
