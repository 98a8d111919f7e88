import { OwnCell } from '../cells/cell.ts'
import { Cells } from '../cells/cells.ts'
import type { ExecutionObserver, Properties } from '../cells/executor.ts'
import type { TaskOutcome } from '../cells/task.ts'
import { headline, type Violation } from '../cells/violation.ts'
import type { Weights } from '../choosers/weights.ts'
import { BudgetSpent, type SearchLimits } from '../system/budget.ts'
import { Diverged, UsageError } from '../system/errors.ts'
import { type Described, labelsOf, readLabel } from '../system/labels.ts'
import { isLike } from '../system/likeness.ts'
import { nearest } from '../system/nearest.ts'
import { Random } from '../system/random.ts'
import { startAfter, startAsOffered } from '../system/start.ts'
import type { Choice, System } from '../system/system.ts'
import { type Critical, confirmCriticalTransition, ViolationMet } from './critical.ts'
import { type Attempt, type MinimiseLimits, type Minimum, minimise } from './minimise.ts'
import { defaultWalks, type RecoveryOptions, recover, Scouts } from './recovery.ts'

/** The identity of a violation, wherever it occurs in a schedule. A `Verdict` of `violated` has these fields. */
export interface ViolationLike {
  readonly kind: Violation['kind']
  /** Name of the property; none for a crash or divergence. */
  readonly property?: string | null | undefined
}

export interface ShrinkOptions<State> extends SearchLimits {
  /** For liveness: the number of walks that must fail before a state is called dead, and the length limit of each. */
  readonly walks?: number | undefined
  readonly walkLength?: number | undefined
  readonly weights?: Partial<Weights> | undefined
  readonly seed?: number | undefined
  /** Which random numbers the nodes draw; 0 by default. */
  readonly variant?: number | undefined
  readonly observer?: ExecutionObserver<State> | undefined
}

/** The shortest schedule found with the recorded violation. */
export interface Shrunk {
  readonly schedule: readonly string[]
  /** One line: what is violated, and where in this schedule. */
  readonly message: string
  readonly executions: number
  /** Whether no single step can be dropped; `false` if a limit was reached before that was known. */
  readonly minimal: boolean
  /**
   * For liveness: the critical transition at its end, with the step before shown to recover; absent if that cannot be
   * told.
   */
  readonly critical?: Critical | undefined
}

const defaultWalkLength = 500
/** Walks that must fail before a candidate is believed as dead. The final result is tested with all. */
const candidateWalks = 5
/** The longest walks behind an answer may be this many times longer than requested. */
const longFactor = 8

/**
 * Shrinks a recorded schedule to the shortest one found with the same violation: of the same property, or a crash or
 * divergence. A schedule that ends in a dead state still does. What is returned was executed again.
 *
 * Throws `Diverged` if the schedule cannot be executed, and `UsageError` if it does not have this violation.
 */
export const shrink = async <State>(
  system: System<State>,
  properties: Properties<State>,
  schedule: readonly string[],
  violation: ViolationLike,
  options: ShrinkOptions<State> = {},
): Promise<Shrunk> => {
  const { observer, weights } = options
  const allowFindings = (violation.property ?? null) !== null
  const cell = new OwnCell(system, properties, { observer, weights, allowFindings })
  const cells = Cells.of([cell]).ofVariant(options.variant ?? 0)
  try {
    const found = await cells.run({ start: startAfter(schedule) })
    const shrunk =
      violation.kind === 'liveness'
        ? await shrinkRecordedDeath(cells, found, requireLiveness(properties, violation.property), options)
        : await shrinkRecordedViolation(cells, found, violation, options)
    return { ...shrunk, executions: cells.counts.executions }
  } finally {
    await cell.end()
  }
}

const shrinkRecordedViolation = async (
  cells: Cells,
  { violation, schedule: found }: TaskOutcome,
  like: ViolationLike,
  limits: SearchLimits,
) => {
  if (!violation || !isAlike(violation, like)) throw doesNotViolate(like, violation)
  const { schedule, message, minimal } = await shrinkViolation(cells, found.slice(0, violation.step), violation, limits)
  return { schedule: labelsOf(schedule), message, minimal }
}

const shrinkRecordedDeath = async (
  cells: Cells,
  { schedule: found }: TaskOutcome,
  property: string,
  {
    walks = defaultWalks,
    walkLength = defaultWalkLength,
    seed = 1,
    milliseconds,
    executions,
    signal,
  }: ShrinkOptions<never>,
) => {
  const recovery = { property, walks, walkLength, random: new Random(seed) }
  const isDead = async (schedule: readonly Choice[]) => {
    const { live, met, failed, isTerminal } = await recover(cells, labelsOf(schedule), recovery)
    return !live && !met && (failed > 0 || isTerminal)
  }
  if (!(await isDead(found))) throw doesNotViolate({ kind: 'liveness', property }, undefined)
  const limits = { milliseconds, executions, signal }
  const shrunk = await shrinkDeath(cells, found, { ...recovery, walks: candidateWalks }, limits)
  const { schedule, minimal } = (await isDead(shrunk.schedule)) ? shrunk : { schedule: found, minimal: false }
  // A minimal schedule does not prove that its last step is the critical one: the state before may be just as dead.
  const scouts = new Scouts()
  const wanted = { ...recovery, scouts, walkLengthMax: longFactor * walkLength }
  const critical = await certainly(() =>
    confirmCriticalTransition(cells.within({ signal }), labelsOf(schedule), wanted),
  )
  const labels = labelsOf(schedule).slice(0, critical?.step)
  const message = `${property} came to hold in none of ${walks} walks of up to ${walkLength} steps after step ${labels.length}`
  return { schedule: labels, message, minimal, critical }
}

/** `undefined` if it cannot be told: walks were too short, met something else, or were interrupted. */
const certainly = async (find: () => Promise<Critical>): Promise<Critical | undefined> => {
  try {
    const critical = await find()
    return critical.case === 'C1' ? critical : undefined
  } catch (error) {
    if (error instanceof BudgetSpent || error instanceof ViolationMet) return undefined
    throw error
  }
}

/**
 * A step that computes for a tenth of the divergence bound usually continues to the full bound. Candidates treat it as
 * a divergence, which saves time.
 */
const candidatesPatience = 0.1

/** Patience with candidates for such a violation. */
export const patienceFor = ({ kind }: ViolationLike): number => (kind === 'divergence' ? candidatesPatience : 1)

/** Shrinks a schedule that ends in a safety violation, a crash or a divergence. What is returned was executed again. */
export const shrinkViolation = async (
  cells: Cells,
  found: readonly Choice[],
  violation: Violation,
  { delayMsMax = Number.POSITIVE_INFINITY, ...limits }: ShrinkLimits,
): Promise<ShrunkViolation> => {
  const shrinkWith = (patience: number) => shrinkPatiently(cells, found, violation, { limits, patience, delayMsMax })
  const patience = patienceFor(violation)
  const soon = patience < 1 ? await shrinkWith(patience) : undefined
  const shrunk = soon ?? (await shrinkWith(1))
  if (shrunk) return shrunk
  const { delayMs } = await cells.run({ start: startAfter(labelsOf(found)) })
  return { schedule: found, message: violation.message, minimal: false, delayMs }
}

interface ShrinkLimits extends SearchLimits {
  /** The longest time that a message may be in flight in the result, in milliseconds. */
  readonly delayMsMax?: number | undefined
}

export interface ShrunkViolation {
  readonly schedule: readonly Choice[]
  readonly message: string
  readonly minimal: boolean
  /** The longest time that a message is in flight in it. */
  readonly delayMs: number
}

/** `undefined` if the result found with this patience turns out not to have the violation. */
const shrinkPatiently = async (
  cells: Cells,
  found: readonly Choice[],
  violation: Violation,
  { limits, patience, delayMsMax }: { limits: SearchLimits; patience: number; delayMsMax: number },
): Promise<ShrunkViolation | undefined> => {
  const { schedule, minimal } = await minimise(cells, found, attemptAt(violation, patience, delayMsMax), limits)
  const { violation: again, delayMs } = await cells.run({ start: startAfter(labelsOf(schedule)), isAnew: true })
  return again && isAlike(again, violation) ? { schedule, message: again.message, minimal, delayMs } : undefined
}

/** Tries whether candidates have such a violation while no message is in flight for longer. */
export const attemptAt =
  (violation: ViolationLike, patience: number, delayMsMax: number): Attempt =>
  async (labels, cells, isShifted) => {
    const outcome = await cells.tryRun({ start: startAsOffered(labels, isShifted), patience })
    if (outcome instanceof Diverged) return undefined
    const isFastEnough = outcome.delayMs <= delayMsMax
    return { ...outcome, isAlike: isFastEnough && !!outcome.violation && isAlike(outcome.violation, violation) }
  }

/**
 * Shrinks a schedule that ends with its critical transition to one from which none of the `recovery` walks recovers
 * either. The result ends with the same step: with few walks, an earlier state could seem just as dead without being
 * so.
 */
export const shrinkDeath = (
  cells: Cells,
  found: readonly Choice[],
  recovery: RecoveryOptions,
  limits: MinimiseLimits,
): Promise<Minimum> => {
  const last = found.at(-1)
  // Each candidate is tried with the same walks.
  const seed = recovery.random.seed()
  const endsAlike = (end: Described | undefined) => (end && last ? isLike(last, end) : end === last)
  const attempt: Attempt = async (labels, cells, isShifted) => {
    const end = labels.at(-1)
    if (!endsAlike(end === undefined ? undefined : readLabel(end))) return undefined
    const options = { ...recovery, isLenient: true, isShifted, random: new Random(seed) }
    const { live, met, begin } = await recover(cells, labels, options)
    return { ...begin, isAlike: !live && !met && !begin.broken && endsAlike(begin.schedule.at(-1)) }
  }
  return minimise(cells, found, attempt, limits)
}

export const isAlike = (violation: Violation, like: ViolationLike): boolean =>
  violation.kind === like.kind && violation.property === (like.property ?? undefined)

const doesNotViolate = ({ kind, property }: ViolationLike, found: Violation | undefined): UsageError => {
  const expected = property ? `a violation of ${property}` : `a ${kind}`
  return new UsageError(
    `nothing to shrink: expected ${expected}, but ${found ? headline(found.message) : 'the schedule does not come to one'}`,
  )
}

const requireLiveness = <State>(properties: Properties<State>, name: string | null | undefined): string => {
  const names = Object.keys(properties).filter(each => properties[each]!.kind === 'eventually')
  if (name && names.includes(name)) return name
  throw new UsageError(`no property "${name ?? ''}" that holds eventually: ${nearest(name ?? '', names)}`)
}
