import type { Limits } from './budget.ts'
import { OwnCell } from './cell.ts'
import { Cells } from './cells.ts'
import { UsageError } from './errors.ts'
import { headline, type Observer, type Properties, type Violation } from './executor.ts'
import { labelsOf, withoutNumbers } from './labels.ts'
import { type Attempt, type Minimum, minimise } from './minimise.ts'
import { Random } from './random.ts'
import { defaultWalks, type RecoveryOptions, recover } from './recovery.ts'
import type { Choice, System } from './system.ts'
import type { Outcome } from './task.ts'
import type { Weights } from './weights.ts'

/** What a violation is like, wherever in a schedule it comes. A `Verdict` of `violated` is one. */
export interface ViolationLike {
  readonly kind: Violation['kind']
  /** Its name; none for a crash or a divergence. */
  readonly property?: string | null | undefined
}

export interface ShrinkOptions<State> extends Limits {
  /** Of liveness: the walks that must fail before a state is called dead, and the most steps of each. */
  readonly walks?: number | undefined
  readonly walkLength?: number | undefined
  readonly weights?: Partial<Weights> | undefined
  readonly seed?: number | undefined
  readonly observer?: Observer<State> | undefined
}

/** The shortest schedule found that violates as the recorded one did. */
export interface Shrunk {
  readonly schedule: readonly string[]
  /** One line: what is violated, and where in this schedule. */
  readonly message: string
  readonly executions: number
  /** Whether no single step of it can be dropped; `false` where a limit was met before that was known. */
  readonly minimal: boolean
}

const defaultWalkLength = 500
/** Walks that must fail for a shorter schedule to be taken for as dead. What comes of it is tested with all. */
const scouts = 5

/**
 * Shrinks a recorded schedule to the shortest one found that violates alike: the same property, or a crash or
 * divergence; one that ends dead stays dead. What is returned was executed again.
 *
 * Throws `Diverged` where the schedule cannot be executed, and `UsageError` where it does not violate alike.
 */
export const shrink = async <State>(
  system: System<State>,
  properties: Properties<State>,
  schedule: readonly string[],
  violation: ViolationLike,
  options: ShrinkOptions<State> = {},
): Promise<Shrunk> => {
  const { observer, weights } = options
  const cell = new OwnCell(system, properties, { observer, weights })
  const cells = Cells.of([cell])
  try {
    const found = await cells.run({ labels: schedule })
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
  { violation, schedule: found }: Outcome,
  like: ViolationLike,
  limits: Limits,
) => {
  if (!violation || !isAlike(violation, like)) throw doesNotViolate(like, violation)
  const { schedule, message, minimal } = await shrinkViolation(cells, found.slice(0, violation.step), violation, limits)
  return { schedule: labelsOf(schedule), message, minimal }
}

const shrinkRecordedDeath = async (
  cells: Cells,
  { schedule: found }: Outcome,
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
  const isDead = async (schedule: readonly Choice[]) => !(await recover(cells, labelsOf(schedule), recovery)).live
  if (!(await isDead(found))) throw doesNotViolate({ kind: 'liveness', property }, undefined)
  const limits = { milliseconds, executions, signal }
  const shrunk = await shrinkDeath(cells, found, { ...recovery, walks: scouts }, limits)
  const { schedule, minimal } = (await isDead(shrunk.schedule)) ? shrunk : { schedule: found, minimal: false }
  const message = `${property} came to hold in none of ${walks} walks of up to ${walkLength} steps after step ${schedule.length}`
  return { schedule: labelsOf(schedule), message, minimal }
}

/** What computes for a tenth of the time after which it diverges mostly goes on; candidates take that for a sign. */
const candidatesPatience = 0.1

/** Shrinks a schedule that ends in a violation of safety, a crash or a divergence. What is returned was executed again. */
export const shrinkViolation = async (
  cells: Cells,
  found: readonly Choice[],
  violation: Violation,
  limits: Limits,
): Promise<ShrunkViolation> => {
  const shrinkWith = (patience: number) => shrinkPatiently(cells, found, violation, { limits, patience })
  const soon = violation.kind === 'divergence' ? await shrinkWith(candidatesPatience) : undefined
  return soon ?? (await shrinkWith(1)) ?? { schedule: found, message: violation.message, minimal: false }
}

interface ShrunkViolation {
  readonly schedule: readonly Choice[]
  readonly message: string
  readonly minimal: boolean
}

/** `undefined` where what candidates with this patience came to turns out to be something else. */
const shrinkPatiently = async (
  cells: Cells,
  found: readonly Choice[],
  violation: Violation,
  { limits, patience }: { limits: Limits; patience: number },
): Promise<ShrunkViolation | undefined> => {
  const attempt: Attempt = async (labels, cells) => {
    const outcome = await cells.run({ labels, isLenient: true, patience })
    return outcome.violation && isAlike(outcome.violation, violation) ? outcome : undefined
  }
  const { schedule, minimal } = await minimise(cells, found, attempt, limits)
  const { violation: again } = await cells.run({ labels: labelsOf(schedule) })
  return again && isAlike(again, violation) ? { schedule, message: again.message, minimal } : undefined
}

/**
 * Shrinks a schedule that ends with its critical transition, to one from which none of the walks of `recovery` lives
 * either. It ends with the same step: before that step all may seem as dead to a few walks, and is not.
 */
export const shrinkDeath = (
  cells: Cells,
  found: readonly Choice[],
  recovery: RecoveryOptions,
  limits: Limits,
): Promise<Minimum> => {
  const last = withoutNumbers(found.at(-1)?.label ?? '')
  // Each candidate is tried by the same walks.
  const seed = recovery.random.seed()
  const endsAlike = (label = '') => withoutNumbers(label) === last
  const attempt: Attempt = async (labels, cells) => {
    if (!endsAlike(labels.at(-1))) return undefined
    const options = { ...recovery, isLenient: true, random: new Random(seed) }
    const { live, begin } = await recover(cells, labels, options)
    return live || begin.broken || !endsAlike(begin.schedule.at(-1)?.label) ? undefined : begin
  }
  return minimise(cells, found, attempt, limits)
}

const isAlike = (violation: Violation, like: ViolationLike): boolean =>
  violation.kind === like.kind && violation.property === (like.property ?? undefined)

const doesNotViolate = ({ kind, property }: ViolationLike, found: Violation | undefined): UsageError => {
  const expected = property ? `a violation of ${property}` : `a ${kind}`
  return new UsageError(
    `nothing to shrink: expected ${expected}, but ${found ? headline(found.message) : 'the schedule does not come to one'}`,
  )
}

const requireLiveness = <State>(properties: Properties<State>, name: string | null | undefined): string => {
  if (name && properties[name]?.kind === 'eventually') return name
  const names = Object.keys(properties).filter(each => properties[each]!.kind === 'eventually')
  throw new UsageError(`no property "${name ?? ''}" that holds eventually: there are ${names.join(', ') || 'none'}`)
}
