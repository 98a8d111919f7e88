import { OwnCell } from '../cells/cell.ts'
import { Cells } from '../cells/cells.ts'
import type { ExecutionObserver, Properties } from '../cells/executor.ts'
import type { TaskOutcome } from '../cells/task.ts'
import { headline, type Violation } from '../cells/violation.ts'
import type { Weights } from '../choosers/weights.ts'
import type { SearchLimits } from '../system/budget.ts'
import { UsageError } from '../system/errors.ts'
import { labelsOf } from '../system/labels.ts'
import { nearest } from '../system/nearest.ts'
import { Random } from '../system/random.ts'
import { startAfter } from '../system/start.ts'
import type { System } from '../system/system.ts'
import { Examination, type Found } from './examine.ts'
import { defaultWalks } from './recovery.ts'
import { isAlike, shrinkViolation, type ViolationLike } from './shrink.ts'

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

/**
 * The shortest schedule found with the recorded violation. Of a liveness violation it ends with its critical transition,
 * which is `null` if that cannot be told; then the schedule is the recorded one.
 */
export interface Shrunk extends Pick<Found, 'criticalTransition' | 'evidence' | 'closestLive'> {
  readonly schedule: readonly string[]
  /** One line: what is violated, and where in this schedule. */
  readonly message: string
  readonly executions: number
  /** Whether no single step can be dropped. `false` if a limit was reached before that was known, or for liveness. */
  readonly minimal: boolean
}

const defaultWalkLength = 500
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
): Promise<Omit<Shrunk, 'executions'>> => {
  if (!violation || !isAlike(violation, like)) throw doesNotViolate(like, violation)
  const { schedule, message, minimal } = await shrinkViolation(cells, found.slice(0, violation.step), violation, limits)
  return { schedule: labelsOf(schedule), message, minimal, criticalTransition: null, closestLive: null }
}

/** Examines the suspect anew, as a check does, but with the caller's limits alone and as long as they allow. */
const shrinkRecordedDeath = async (
  cells: Cells,
  { schedule, lastLive }: TaskOutcome,
  property: string,
  {
    walks = defaultWalks,
    walkLength = defaultWalkLength,
    seed = 1,
    milliseconds,
    executions,
    signal,
  }: ShrinkOptions<never>,
): Promise<Omit<Shrunk, 'executions'>> => {
  const until = performance.now() + (milliseconds ?? Number.POSITIVE_INFINITY)
  const differed: string[] = []
  const examination = new Examination({
    walks,
    walkLengthMax: longFactor * walkLength,
    random: new Random(seed),
    within: () => ({
      executions,
      signal,
      ...(milliseconds !== undefined && { milliseconds: until - performance.now() }),
    }),
    kept: () => 0,
    signal,
    onNotRepeated: line => differed.push(line),
    onPhase: () => {},
  })
  const suspect = { schedule, lastLive: lastLive.get(property) ?? null }
  const lengths = { walkLength, recoveryLength: walkLength }
  const found = await examination.examineLiveness(cells, suspect, property, lengths)
  if (found === undefined) throw new UsageError(`nothing to shrink: ${differed.join('; ')}`)
  if (found === 'transient' || found.kind !== 'liveness')
    throw doesNotViolate({ kind: 'liveness', property }, undefined)
  const { verdict, message, schedule: shortest, evidence, criticalTransition, closestLive } = found
  if (verdict !== 'violated')
    return { schedule: labelsOf(schedule), message, minimal: false, criticalTransition: null, closestLive: null }
  return { schedule: shortest, message, ...(evidence && { evidence }), minimal: false, criticalTransition, closestLive }
}

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
