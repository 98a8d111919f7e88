import { Budget, type Limits } from './budget.ts'
import { UsageError } from './errors.ts'
import { Executor, headline, type Observer, type Properties, type Violation } from './executor.ts'
import { withoutNumbers } from './labels.ts'
import { type Minimum, minimise } from './minimise.ts'
import { Random } from './random.ts'
import { defaultWalks, type RecoveryOptions, recover } from './recovery.ts'
import { repeat } from './schedule.ts'
import type { Choice, System } from './system.ts'
import { defaultWeights, type Weights } from './weights.ts'

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
  const executor = new Executor(system, properties, { observer: options.observer })
  try {
    await repeat(executor, schedule)
    const found = [...executor.schedule]
    const shrunk =
      violation.kind === 'liveness'
        ? await shrinkRecordedDeath(executor, found, violation, options)
        : await shrinkRecordedViolation(executor, found, violation, options)
    return { ...shrunk, executions: executor.counts.executions }
  } finally {
    executor.end()
  }
}

const shrinkRecordedViolation = async <State>(
  executor: Executor<State>,
  found: readonly Choice[],
  like: ViolationLike,
  limits: Limits,
) => {
  const { violation } = executor
  if (!violation || !isAlike(violation, like)) throw doesNotViolate(like, violation)
  const { schedule, message, minimal } = await shrinkViolation(
    executor,
    found.slice(0, violation.step),
    violation,
    limits,
  )
  return { schedule: labelsOf(schedule), message, minimal }
}

const shrinkRecordedDeath = async <State>(
  executor: Executor<State>,
  found: readonly Choice[],
  like: ViolationLike,
  options: ShrinkOptions<State>,
) => {
  const { walks = defaultWalks, walkLength = defaultWalkLength, seed = 1 } = options
  const property = like.property ?? ''
  if (!executor.liveness.includes(property)) throw noLiveness(property, executor.liveness)
  const weights = { ...defaultWeights, ...options.weights }
  const recovery = { property, walks, walkLength, weights, random: new Random(seed) }
  const isDead = async (schedule: readonly Choice[]) => !(await recover(executor, labelsOf(schedule), recovery)).live
  if (!(await isDead(found))) throw doesNotViolate(like, undefined)
  const shrunk = await shrinkDeath(executor, found, { ...recovery, walks: scouts }, options)
  const { schedule, minimal } = (await isDead(shrunk.schedule)) ? shrunk : { schedule: found, minimal: false }
  const message = `${property} came to hold in none of ${walks} walks of up to ${walkLength} steps after step ${schedule.length}`
  return { schedule: labelsOf(schedule), message, minimal }
}

/** Shrinks a schedule that ends in a violation of safety, a crash or a divergence. What is returned was executed again. */
export const shrinkViolation = async <State>(
  executor: Executor<State>,
  found: readonly Choice[],
  violation: Violation,
  limits: Limits,
): Promise<{ schedule: readonly Choice[]; message: string; minimal: boolean }> => {
  const stillViolates = async () => executor.violation !== undefined && isAlike(executor.violation, violation)
  const { schedule, minimal } = await minimise(executor, found, stillViolates, limits)
  // Whatever was interrupted, what has been found is executed to its end.
  await executor.within(new Budget({}), () => repeat(executor, labelsOf(schedule)))
  const again = executor.violation
  if (again && isAlike(again, violation)) return { schedule, message: again.message, minimal }
  return { schedule: found, message: violation.message, minimal: false }
}

/**
 * Shrinks a schedule that ends with its critical transition, to one from which none of the walks of `recovery` lives
 * either. It ends with the same step: before that step all may seem as dead to a few walks, and is not.
 */
export const shrinkDeath = <State>(
  executor: Executor<State>,
  found: readonly Choice[],
  recovery: RecoveryOptions,
  limits: Limits,
): Promise<Minimum> => {
  const last = withoutNumbers(found.at(-1)?.label ?? '')
  const stillDead = async () => {
    const isAlike = withoutNumbers(executor.schedule.at(-1)?.label ?? '') === last
    const walks = recovery.scouts?.count ?? recovery.walks
    return isAlike && !executor.broken && !(await recover(executor, executor.labels(), { ...recovery, walks })).live
  }
  return minimise(executor, found, stillDead, limits)
}

const isAlike = (violation: Violation, like: ViolationLike): boolean =>
  violation.kind === like.kind && violation.property === (like.property ?? undefined)

const labelsOf = (schedule: readonly Choice[]): string[] => schedule.map(choice => choice.label)

const doesNotViolate = ({ kind, property }: ViolationLike, found: Violation | undefined): UsageError => {
  const expected = property ? `a violation of ${property}` : `a ${kind}`
  return new UsageError(
    `nothing to shrink: expected ${expected}, but ${found ? headline(found.message) : 'the schedule does not come to one'}`,
  )
}

const noLiveness = (property: string, names: readonly string[]): UsageError =>
  new UsageError(`no property "${property}" that holds eventually: there are ${names.join(', ') || 'none'}`)
