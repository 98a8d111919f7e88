import type { Cells } from '../cells/cells.ts'
import type { TaskOutcome } from '../cells/task.ts'
import { headline, type Violation } from '../cells/violation.ts'
import type { Progress } from '../searches/options.ts'
import type { WaysToLife } from '../searches/ways-to-life.ts'
import { counted } from '../system/brief.ts'
import { BudgetSpent, type SearchLimits } from '../system/budget.ts'
import { Diverged } from '../system/errors.ts'
import { labelsOf } from '../system/labels.ts'
import { Random } from '../system/random.ts'
import { startAfter } from '../system/start.ts'
import type { Choice } from '../system/system.ts'
import {
  type Critical,
  type CriticalOptions,
  confirmCriticalTransition,
  findCriticalTransition,
  ViolationMet,
} from './critical.ts'
import { curveOf } from './curve.ts'
import { describeDeath } from './evidence.ts'
import { type Hastened, hasten, inUsualNetwork } from './hasten.ts'
import { minimise } from './minimise.ts'
import { oldestFirst } from './oldest-first.ts'
import { overtakingsIn } from './overtakings.ts'
import { recover, Scouts, scoutsMax } from './recovery.ts'
import { attemptAt, patienceFor, shrinkDeath, shrinkViolation, type ViolationLike } from './shrink.ts'
import { leastSkewMs } from './skew.ts'
import { slowMs } from './slow-network.ts'
import type { Verdict } from './verdict.ts'

/** The part of a verdict about what was found. */
export type Found = Pick<
  Verdict,
  | 'verdict'
  | 'property'
  | 'kind'
  | 'schedule'
  | 'criticalTransition'
  | 'delayMs'
  | 'skewMs'
  | 'repeated'
  | 'message'
  | 'evidence'
  | 'closestLive'
>

export interface ExaminationOptions {
  /** Number of walks behind a critical transition. */
  readonly walks: number
  /** Limit to which walks are lengthened if shorter ones do not tell. */
  readonly walkLengthMax: number
  readonly random: Random
  /** What of the usual limits of a part of the examination holds, with the signal that ends it. */
  readonly within: (usual: SearchLimits) => SearchLimits
  /** How many steps at the beginning of each schedule are those of a long way, which stays as it is. */
  readonly kept: () => number
  readonly signal: AbortSignal | undefined
  /** Receives a line for each finding that did not repeat. */
  readonly onNotRepeated: (line: string) => void
  readonly onPhase: (phase: Progress['phase']) => void
  /** Paths to live states seen in live executions. */
  readonly ways?: WaysToLife | undefined
}

/** Lengths of walks, in steps. */
export interface Lengths {
  /** Length of the walk in which a property was not live. */
  readonly walkLength: number
  /** Initial length of each of the many walks that look for a live state. */
  readonly recoveryLength: number
}

/** An execution in which a liveness property did not hold for the length of a walk. */
export interface Suspect {
  readonly schedule: readonly Choice[]
  /** The last step after which the property held; `null` if it never did. */
  readonly lastLive: number | null
  /** Limits of its whole examination; by default only its parts have any. */
  readonly limits?: SearchLimits
}

const shrinkLimits: SearchLimits = { steps: 20_000, milliseconds: 30_000 }
/** Dead states get more steps, because each dead candidate costs all the walks that show it. */
const shrinkDeadLimits: SearchLimits = { steps: 50_000, milliseconds: 15_000 }
const hastenLimits: SearchLimits = { steps: 10_000, milliseconds: 10_000 }
const orderLimits: SearchLimits = { steps: 10_000, milliseconds: 10_000 }
/** What is found out about a violation that is certain, for its reader. */
const overtakingLimits = { steps: 5_000, milliseconds: 5_000 } satisfies SearchLimits
const curveLimits = { steps: 5_000, milliseconds: 3_000 } satisfies SearchLimits
/**
 * An early finding is reported soon: its examination may take a quarter of the time until then, and at least this time.
 */
const explainedShare = 1 / 4
const explainedMin = { steps: 1_000, milliseconds: 1_000 } satisfies SearchLimits
/** Walks of the curve of a safety violation: their length as a multiple of the schedule's, and in steps at least. */
const [curveFactor, curveLengthMin] = [2, 50]
/** Limit on the examination of a suspect, if time does not limit it. */
export const suspectStepsMax = 500_000
/**
 * Share of the final number of walks with which a critical transition is found before it is shrunk. With more,
 * shrinking begins late; with fewer, it may shrink towards a state that recovers.
 */
const firstShare = 1 / 4

/** A death is shrunk at most this many times: a second time if the first result turned out to recover. */
const shrinkTriesMax = 2

/** Examines what a search suspects, with budgets of its own, and reports only what repeats. */
export class Examination {
  /** The most steps that a suspect needed to recover. */
  slowest = 0
  /** Number of suspects examined, whatever the result. */
  #suspects = 0
  /** What seemed to be the critical transition of the present suspect. */
  #seeming: Critical | undefined
  readonly #options: ExaminationOptions

  constructor(options: ExaminationOptions) {
    this.#options = options
  }

  /** Examines an execution with a violation; `undefined` if it does not repeat. */
  async examineViolation(cells: Cells, schedule: readonly Choice[], violation: Violation): Promise<Found | undefined> {
    if (this.#options.kept() > 0) return this.#examineBehind(cells, schedule, violation)
    const repeated = await this.repeat(cells, schedule, violation)
    return repeated && this.shorten(cells, schedule, violation, repeated)
  }

  /** Executes a violating schedule again. `undefined` if it does not have the same violation at the same step. */
  async repeat(cells: Cells, schedule: readonly Choice[], violation: Violation): Promise<TaskOutcome | undefined> {
    const { signal, onPhase, onNotRepeated } = this.#options
    onPhase('repeating')
    const came = await repeat(cells.within({ signal }), labelsOf(schedule), violation)
    if (typeof came !== 'string') return came
    onNotRepeated(`${headline(violation.message)}; executed again, it ${came}`)
    return undefined
  }

  /** What is reported of a violation that was repeated, with the shortest schedule found. */
  async shorten(
    cells: Cells,
    schedule: readonly Choice[],
    violation: Violation,
    { delayMs }: Pick<TaskOutcome, 'delayMs'>,
  ): Promise<Found> {
    this.#options.onPhase('shrinking')
    const whole = { schedule, message: violation.message, delayMs, skewMs: 0 }
    return describeViolation(
      violation,
      schedule.length === 0 ? whole : await this.#shorten(cells, schedule, violation, delayMs),
    )
  }

  /**
   * Examines a violation behind a long way, which is kept. It is shrunk before it is repeated: what was saved at the end of
   * the way does not outlive an execution on new processes, and each candidate would have to go the whole way.
   */
  async #examineBehind(cells: Cells, schedule: readonly Choice[], violation: Violation): Promise<Found | undefined> {
    this.#options.onPhase('shrinking')
    const shortest = await this.#shortenBehind(cells, schedule, violation)
    const isShorter = shortest.length < schedule.length
    const again =
      (await this.repeat(cells, shortest, violation)) ??
      (isShorter ? await this.repeat(cells, schedule, violation) : undefined)
    if (again === undefined) return undefined
    const { message } = again.violation ?? again.finding ?? violation
    return describeViolation(violation, { schedule: again.schedule, message, delayMs: again.delayMs, skewMs: null })
  }

  async #shortenBehind(cells: Cells, schedule: readonly Choice[], violation: Violation): Promise<readonly Choice[]> {
    const attempt = attemptAt(violation, patienceFor(violation), Number.POSITIVE_INFINITY)
    const limits = { ...this.#options.within(shrinkLimits), kept: this.#options.kept() }
    try {
      return (await minimise(cells, schedule, attempt, limits)).schedule
    } catch (error) {
      if (!(error instanceof Diverged || error instanceof BudgetSpent)) throw error
      return schedule
    }
  }

  /**
   * The shortest schedule found. If an execution diverges meanwhile, or the check is interrupted, the given schedule, which
   * was executed twice already.
   */
  async #shorten(
    cells: Cells,
    schedule: readonly Choice[],
    violation: Violation,
    delayMs: number,
  ): Promise<Hastened & Pick<Found, 'skewMs'>> {
    try {
      const usual = await this.#inUsualNetwork(cells, schedule, violation, delayMs)
      const limits = { ...this.#options.within(shrinkLimits), ...(usual && { delayMsMax: slowMs }) }
      const shrunk = await shrinkViolation(cells, usual ?? schedule, violation, limits)
      const hastened = await hasten(cells, shrunk, violation, this.#options.within(hastenLimits))
      const skewMs = await leastSkewMs(cells.within(this.#options.within(hastenLimits)), hastened.schedule, violation)
      return { ...hastened, skewMs }
    } catch (error) {
      if (error instanceof BudgetSpent) return { schedule, message: violation.message, delayMs, skewMs: null }
      if (!(error instanceof Diverged)) throw error
      this.#options.onNotRepeated(
        `a shorter schedule of ${violation.property ?? `the ${violation.kind}`} ${error.message}`,
      )
      return { schedule, message: violation.message, delayMs, skewMs: null }
    }
  }

  /** This schedule, or one like it, for which a usual network is slow enough. What it shrinks to need not be hastened. */
  async #inUsualNetwork(
    cells: Cells,
    schedule: readonly Choice[],
    violation: Violation,
    delayMs: number,
  ): Promise<readonly Choice[] | undefined> {
    if (delayMs <= slowMs) return schedule
    return (await inUsualNetwork(cells.within(this.#options.within(hastenLimits)), schedule, violation))?.schedule
  }

  /**
   * Examines a suspect of this property. Returns `transient` if it recovers and so violates nothing, and `undefined` if it
   * does not repeat.
   */
  async examineLiveness(
    cells: Cells,
    suspect: Suspect,
    property: string,
    lengths: Lengths,
  ): Promise<Found | 'transient' | undefined> {
    this.#options.onPhase('finding the critical transition')
    this.#suspects += 1
    this.#seeming = undefined
    const before = cells.counts.executions
    const limited = suspect.limits ? cells.within(this.#options.within(suspect.limits)) : cells
    try {
      return await this.#examineDeath(limited, suspect, property, lengths)
    } catch (error) {
      if (error instanceof BudgetSpent)
        return unfinished(property, labelsOf(suspect.schedule), {
          ended: error,
          executions: cells.counts.executions - before,
          seeming: this.#seeming,
        })
      if (error instanceof ViolationMet) return this.#examineMet(cells, error.outcome)
      if (!(error instanceof Diverged)) throw error
      this.#options.onNotRepeated(
        `${property} was not live for ${lengths.walkLength} steps; executed again, it ${error.message}`,
      )
      return undefined
    }
  }

  /** Examines a violation that a walk to a live state met. */
  #examineMet(cells: Cells, { schedule, violation }: TaskOutcome): Promise<Found | undefined> {
    return this.examineViolation(cells, schedule.slice(0, violation!.step), violation!)
  }

  /**
   * Finds the critical transition with some of the walks, shrinks the schedule to it, and tests the result with all of
   * them. If the shorter schedule recovers after all, this is repeated with walks of the length that it took; but shrinking
   * is not, if few walks cannot tell such a state from a dead one. Then the first result is tested, and only if that recovers
   * too is the whole suspect searched again.
   */
  async #examineDeath(
    cells: Cells,
    { schedule: suspect, lastLive }: Suspect,
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
    const first = await this.#find(cells, schedule, { ...some, lastLive })
    if (first.case === 'transient') return 'transient'
    if (first.case === 'C2') return describe(property, schedule, first, this.#suspects)
    this.#seeming = first
    some = { ...some, walkLength: first.walkLength }
    for (let tries = 0; tries < shrinkTriesMax; tries++) {
      const all: CriticalOptions = { ...some, walks, isFinal: true, ways }
      onPhase('shrinking')
      const shortest = await this.#shrinkDeath(cells, suspect.slice(0, first.step), some)
      onPhase('finding the critical transition')
      const again = await this.#confirm(cells, shortest, all)
      if (again.case === 'C1') return describe(property, shortest, again, this.#suspects)
      // The walk that recovered is tried first from now on, so that it does not shrink to the same schedule again.
      some = { ...some, walkLength: again.walkLength }
      // The next result would most likely recover in the same way.
      if (some.scouts.areTooFew) break
    }
    const all: CriticalOptions = { ...some, walks, isFinal: true, ways, lastLive }
    const named = await this.#confirm(cells, schedule.slice(0, first.step), all)
    if (named.case === 'C1') return describe(property, schedule, named, this.#suspects)
    const whole = await this.#find(cells, schedule, all)
    return whole.case === 'transient' ? 'transient' : describe(property, schedule, whole, this.#suspects)
  }

  /**
   * What a reader of a violation wants to know: which overtakings it depends on, and when it became likely.
   *
   * @param spent until it was found
   */
  async explain(
    cells: Cells,
    found: Found,
    spent: Readonly<Record<'steps' | 'milliseconds', number>>,
  ): Promise<Pick<Verdict, 'overtakings' | 'curve'>> {
    this.#options.onPhase('finding what it depends on')
    const atMost = (limits: typeof spent, what: keyof typeof spent) =>
      Math.min(limits[what], Math.max(explainedMin[what], explainedShare * spent[what]))
    const within = (limits: typeof spent) =>
      this.#options.within({ steps: atMost(limits, 'steps'), milliseconds: atMost(limits, 'milliseconds') })
    const overtakings = await overtakingsIn(cells, found.schedule, this.#stillMet(found), within(overtakingLimits))
    const curve = await curveOf(cells, found.schedule, {
      found: violationLike(found),
      length: found.criticalTransition?.walkLength ?? Math.max(curveLengthMin, curveFactor * found.schedule.length),
      random: this.#options.random.fork(),
      limits: within(curveLimits),
    })
    return { ...(overtakings && { overtakings }), ...(curve && { curve }) }
  }

  /** Whether a schedule still comes to such a violation or, for liveness, whether no walk recovers from its end. */
  #stillMet(found: Found) {
    const { criticalTransition, property } = found
    const like = violationLike(found)
    const attempt = attemptAt(like, patienceFor(like), Number.POSITIVE_INFINITY)
    const seed = this.#options.random.seed()
    return async (labels: readonly string[], cells: Cells): Promise<boolean> => {
      if (criticalTransition === null) return (await attempt(labels, cells, false))?.isAlike ?? true
      const { walkLength } = criticalTransition
      const walks = { property: property!, walks: scoutsMax, walkLength, isLenient: true, random: new Random(seed) }
      return (await recover(cells, labels, walks)).live === undefined
    }
  }

  async #find(cells: Cells, schedule: readonly string[], options: CriticalOptions): Promise<Critical> {
    return this.#learn(await findCriticalTransition(cells, schedule, options))
  }

  async #confirm(cells: Cells, schedule: readonly string[], options: CriticalOptions): Promise<Critical> {
    return this.#learn(await confirmCriticalTransition(cells, schedule, options))
  }

  #learn(critical: Critical): Critical {
    this.slowest = Math.max(this.slowest, critical.slowest)
    return critical
  }

  /**
   * The shortest schedule found to a state that seems as dead; its steps are in the order in which they became enabled,
   * as far as possible.
   */
  async #shrinkDeath(cells: Cells, found: readonly Choice[], options: CriticalOptions): Promise<readonly string[]> {
    const recovery = { ...options, walks: options.scouts.count, first: options.scouts.walks }
    const limits = { ...this.#options.within(shrinkDeadLimits), kept: Math.min(this.#options.kept(), found.length) }
    const { schedule } = await shrinkDeath(cells, found, recovery, limits)
    if (limits.kept > 0) return labelsOf(schedule)
    return oldestFirst(cells, labelsOf(schedule), this.#options.within(orderLimits))
  }
}

/** The outcome of the same execution if it has the same violation at the same step, otherwise what it did instead. */
const repeat = async (cells: Cells, labels: readonly string[], violation: Violation): Promise<TaskOutcome | string> => {
  const came = await cells.tryRun({ start: startAfter(labels), isAnew: true })
  if (came instanceof Diverged) return came.message
  const again = came.violation ?? came.finding
  if (again && isSame(again, violation) && again.step === labels.length) return came
  return again ? `came to another violation: ${headline(again.message)}` : 'did not violate it'
}

const isSame = (one: Violation, other: Violation): boolean => one.kind === other.kind && one.property === other.property

const violationLike = ({ kind, property }: Found): ViolationLike => ({ kind: kind!, property: property ?? undefined })

const describeViolation = (
  { kind, property }: Violation,
  { schedule, message, delayMs, skewMs }: Hastened & Pick<Found, 'skewMs'>,
): Found => ({
  verdict: 'violated',
  property: property ?? null,
  kind,
  schedule: labelsOf(schedule),
  criticalTransition: null,
  delayMs,
  skewMs,
  repeated: true,
  message,
  closestLive: null,
})

const describe = (property: string, schedule: readonly string[], critical: Critical, suspects: number): Found => {
  const { step, walks, walkLength, closestLive } = critical
  const label = step === 0 ? '(initial state)' : schedule[step - 1]!
  const isDead = critical.case === 'C1'
  const { dead, evidence } = describeDeath(property, label, critical, suspects)
  return {
    verdict: isDead ? 'violated' : 'undetermined',
    property,
    kind: 'liveness',
    // Where the doubt begins is itself in doubt.
    schedule: isDead ? schedule.slice(0, step) : schedule,
    criticalTransition: { step, label, case: isDead ? 'C1' : 'C2', walks, walkLength },
    delayMs: null,
    skewMs: null,
    repeated: true,
    message: isDead ? `${dead}: ${evidence}` : describeDoubt(property, walkLength),
    ...(isDead && { evidence }),
    closestLive: closestLive ?? null,
  }
}

const describeDoubt = (property: string, walkLength: number): string =>
  `${property} did not come to hold, and walks of up to ${walkLength} steps are too short to tell whether it ever can (case C2)`

/** A violation, or one that was left to be examined. A suspect of a liveness property whose examination was not finished is none. */
export const isFinding = ({ verdict, kind }: Pick<Verdict, 'verdict' | 'kind'>): boolean =>
  verdict === 'violated' || (kind !== null && kind !== 'liveness')

/** What is said of a violation that is not examined, or not to its end. */
export const suspected = (
  { property, kind, message }: Pick<Violation, 'property' | 'kind' | 'message'>,
  schedule: readonly string[],
): Found => ({
  verdict: 'undetermined',
  property: property ?? null,
  kind,
  schedule,
  criticalTransition: null,
  delayMs: null,
  skewMs: null,
  repeated: false,
  message,
  closestLive: null,
})

interface Unfinished {
  readonly ended: BudgetSpent
  /** How many executions went into the examination. */
  readonly executions: number
  readonly seeming: Critical | undefined
}

const unfinished = (
  property: string,
  schedule: readonly string[],
  { ended, executions, seeming }: Unfinished,
): Found => {
  const spent = `${whyEnded[ended.what]} before it was known whether it ever can: ${counted(executions, 'execution')} went into that`
  const where = seeming ? `; it seems that it cannot after step ${seeming.step}` : ''
  const message = `${property} did not come to hold in ${counted(schedule.length, 'step')}, and ${spent}${where}`
  return suspected({ property, kind: 'liveness', message }, schedule)
}

const whyEnded: Readonly<Record<BudgetSpent['what'], string>> = {
  time: 'the time for it was over',
  steps: 'the steps for it were spent',
  executions: 'the executions for it were spent',
  aborted: 'the check was interrupted',
}
