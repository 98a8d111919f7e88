import { BudgetSpent, type Limits } from '../budget.ts'
import type { Cells } from '../cells/cells.ts'
import type { TaskOutcome } from '../cells/task.ts'
import { headline, type Violation } from '../cells/violation.ts'
import { Diverged } from '../errors.ts'
import { labelsOf } from '../labels.ts'
import type { Random } from '../random.ts'
import type { Progress } from '../searches/options.ts'
import type { WaysToLife } from '../searches/ways-to-life.ts'
import { startAfter } from '../start.ts'
import type { Choice } from '../system.ts'
import {
  type Critical,
  type CriticalOptions,
  confirmCriticalTransition,
  findCriticalTransition,
  ViolationMet,
} from './critical.ts'
import { describeDeath } from './evidence.ts'
import { type Hastened, hasten } from './hasten.ts'
import { oldestFirst } from './oldest-first.ts'
import { Scouts } from './recovery.ts'
import { shrinkDeath, shrinkViolation } from './shrink.ts'
import type { Verdict } from './verdict.ts'

/** The part of a verdict that says what was found. */
export type Found = Pick<
  Verdict,
  | 'verdict'
  | 'property'
  | 'kind'
  | 'schedule'
  | 'criticalTransition'
  | 'delayMs'
  | 'repeated'
  | 'message'
  | 'closestLive'
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
  /** What live executions have shown. */
  readonly ways?: WaysToLife | undefined
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
const hastenLimits: Limits = { steps: 10_000, milliseconds: 10_000 }
const orderLimits: Limits = { steps: 10_000, milliseconds: 10_000 }
const criticalLimits: Limits = { steps: 500_000, milliseconds: 300_000 }
/** Of the walks that a critical transition is to stand on, for the one that is to be shrunk. */
const firstShare = 1 / 4

/** So often the way to a death is shrunk: once more where what was left of it turned out to recover. */
const shrinkTriesMax = 2

/** Looks again at what a search suspects, with budgets of its own, and reports only what repeats. */
export class Examination {
  /** One line for each thing that did not repeat. */
  readonly notRepeated: string[] = []
  /** The most steps that a suspect took to live again. */
  slowest = 0
  /** Suspects that were examined, whatever came of it. */
  #suspects = 0
  readonly #options: ExaminationOptions

  constructor(options: ExaminationOptions) {
    this.#options = options
  }

  /** Examines an execution that came to a violation; `undefined` where it does not repeat. */
  async examineViolation(cells: Cells, schedule: readonly Choice[], violation: Violation): Promise<Found | undefined> {
    const { signal, onPhase } = this.#options
    onPhase('repeating')
    const came = await this.#repeat(cells.within({ signal }), labelsOf(schedule), violation)
    if (typeof came === 'string') {
      this.notRepeated.push(`${headline(violation.message)}; executed again, it ${came}`)
      return undefined
    }
    onPhase('shrinking')
    const shortest = await this.#shorten(cells, schedule, violation, came.delayMs)
    return {
      verdict: 'violated',
      property: violation.property ?? null,
      kind: violation.kind,
      schedule: labelsOf(shortest.schedule),
      criticalTransition: null,
      delayMs: shortest.delayMs,
      repeated: true,
      message: shortest.message,
      closestLive: null,
    }
  }

  /** The shortest schedule found; the given one where an execution diverges meanwhile: it has been executed twice. */
  async #shorten(
    cells: Cells,
    schedule: readonly Choice[],
    violation: Violation,
    delayMs: number,
  ): Promise<Pick<Hastened, 'schedule' | 'message' | 'delayMs'>> {
    try {
      const shrunk = await shrinkViolation(cells, schedule, violation, this.#within(shrinkLimits))
      return await hasten(cells, shrunk, violation, this.#within(hastenLimits))
    } catch (error) {
      if (!(error instanceof Diverged)) throw error
      this.notRepeated.push(`a shorter schedule of ${violation.property ?? `the ${violation.kind}`} ${error.message}`)
      return { schedule, message: violation.message, delayMs }
    }
  }

  /** Executes a violating schedule again. Its outcome, where it violates the same at the same step; else what it did instead. */
  async #repeat(cells: Cells, labels: readonly string[], violation: Violation): Promise<TaskOutcome | string> {
    const came = await cells.tryRun({ start: startAfter(labels), isAnew: true })
    if (came instanceof Diverged) return came.message
    const again = came.violation
    if (again && isSame(again, violation) && again.step === labels.length) return came
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
    this.#suspects += 1
    try {
      return await this.#examineDeath(cells.within(this.#within(criticalLimits)), suspect, property, lengths)
    } catch (error) {
      if (error instanceof BudgetSpent) return unfinished(property, labelsOf(suspect))
      if (error instanceof ViolationMet) return this.#examineMet(cells, error.outcome)
      if (!(error instanceof Diverged)) throw error
      this.notRepeated.push(
        `${property} was not live for ${lengths.walkLength} steps; executed again, it ${error.message}`,
      )
      return undefined
    }
  }

  /** A walk that looked for a live state met a violation: that is what was found. */
  #examineMet(cells: Cells, { schedule, violation }: TaskOutcome): Promise<Found | undefined> {
    return this.examineViolation(cells, schedule.slice(0, violation!.step), violation!)
  }

  /**
   * Finds the critical transition with some of the walks, shrinks the way to it, and tests it there with all of them. Where the
   * shorter way recovers after all, by walks that are longer, it is done again with walks of that length.
   */
  async #examineDeath(
    cells: Cells,
    suspect: readonly Choice[],
    property: string,
    { walkLength, recoveryLength }: Lengths,
  ): Promise<Found | 'transient'> {
    const { walks, walkLengthMax, random, ways, onPhase } = this.#options
    const schedule = labelsOf(suspect)
    let some: CriticalOptions = {
      property,
      walks: Math.ceil(walks * firstShare),
      scouts: new Scouts(),
      walkLength: recoveryLength,
      suspectLength: walkLength,
      walkLengthMax,
      random,
    }
    for (let tries = 0; tries < shrinkTriesMax; tries++) {
      const first = await this.#find(cells, schedule, some)
      if (first.case === 'transient') return 'transient'
      if (first.case === 'C2') return describe(property, schedule, first, this.#suspects)
      const all: CriticalOptions = { ...some, walkLength: first.walkLength, walks, searches: true, ways }
      onPhase('shrinking')
      const shortest = await this.#shrinkDeath(cells, suspect.slice(0, first.step), all)
      onPhase('finding the critical transition')
      const again = await confirmCriticalTransition(cells, shortest, all)
      this.#learn(again)
      if (again.case === 'C1') return describe(property, shortest, again, this.#suspects)
      some = { ...some, walkLength: again.walkLength }
    }
    const whole = await this.#find(cells, schedule, { ...some, walks, searches: true, ways })
    return whole.case === 'transient' ? 'transient' : describe(property, schedule, whole, this.#suspects)
  }

  async #find(cells: Cells, schedule: readonly string[], options: CriticalOptions): Promise<Critical> {
    const critical = await findCriticalTransition(cells, schedule, options)
    this.#learn(critical)
    return critical
  }

  #learn({ slowest }: Critical): void {
    this.slowest = Math.max(this.slowest, slowest)
  }

  #within({ steps, milliseconds }: Limits): Limits {
    const { isTimed, signal } = this.#options
    return { signal, ...(isTimed ? { milliseconds } : { steps }) }
  }

  /** The shortest schedule found to a state that seems as dead, what has waited longest first. */
  async #shrinkDeath(cells: Cells, found: readonly Choice[], options: CriticalOptions): Promise<readonly string[]> {
    const recovery = { ...options, walks: options.scouts.count, first: options.scouts.walks }
    const { schedule } = await shrinkDeath(cells, found, recovery, this.#within(shrinkDeadLimits))
    return oldestFirst(cells, labelsOf(schedule), this.#within(orderLimits))
  }
}

const isSame = (one: Violation, other: Violation): boolean => one.kind === other.kind && one.property === other.property

const describe = (property: string, schedule: readonly string[], critical: Critical, suspects: number): Found => {
  const { step, walks, walkLength, closestLive } = critical
  const label = step === 0 ? '(initial state)' : schedule[step - 1]!
  const isDead = critical.case === 'C1'
  return {
    verdict: isDead ? 'violated' : 'undetermined',
    property,
    kind: 'liveness',
    schedule: schedule.slice(0, step),
    criticalTransition: { step, label, case: isDead ? 'C1' : 'C2', walks, walkLength },
    delayMs: null,
    repeated: true,
    message: isDead ? describeDeath(property, label, critical, suspects) : describeDoubt(property, walkLength),
    closestLive: closestLive ?? null,
  }
}

const describeDoubt = (property: string, walkLength: number): string =>
  `${property} did not come to hold, and walks of up to ${walkLength} steps are too short to tell whether it ever can (case C2)`

const unfinished = (property: string, schedule: readonly string[]): Found => ({
  verdict: 'undetermined',
  property,
  kind: 'liveness',
  schedule,
  criticalTransition: null,
  delayMs: null,
  repeated: false,
  message: `${property} did not come to hold, and the budget was spent before a critical transition was found`,
  closestLive: null,
})
