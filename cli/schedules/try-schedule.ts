import { Executor, type Properties } from '../../checker/cells/executor.ts'
import { attempt } from '../../checker/cells/schedule.ts'
import { select } from '../../checker/cells/select.ts'
import { headline, type Violation } from '../../checker/cells/violation.ts'
import { check } from '../../checker/check.ts'
import { counted, shownList } from '../../checker/system/brief.ts'
import { DoesNotStart, UsageError } from '../../checker/system/errors.ts'
import { labelsOf } from '../../checker/system/labels.ts'
import { shown } from '../../checker/system/show.ts'
import type { GlobalState } from '../../harness/config/config.ts'
import { nearest } from '../../harness/config/config.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { inSession, type Session, type SessionOptions } from '../session/session.ts'
import { differenceOnNewProcesses } from '../traces/confirm.ts'

export interface TryOptions extends SessionOptions {
  /** Looks only at this property. */
  readonly property?: string | undefined
  /** Variant of the nodes' random numbers, as in the verdict with the schedule; 0 by default. */
  readonly variant?: number | undefined
  /**
   * Which steps may be skipped because they are not enabled any more: this many, or those with these labels. None by
   * default, because a misspelt label would pass for a mended service.
   */
  readonly allowSkipped?: number | readonly string[] | undefined
}

/** The result of a schedule that was tried. */
export interface Tried {
  readonly verdict: 'violated' | 'held' | 'undetermined'
  /** One line. */
  readonly message: string
  /** The executed steps of the schedule, followed by a walk if only that led to the violation. */
  readonly schedule: readonly string[]
  /** Number of the schedule's steps that were executed, and the labels that were skipped. */
  readonly executed: number
  readonly skipped: readonly string[]
  /** The final state. */
  readonly state: GlobalState
}

/**
 * Executes as much of a schedule as possible and says whether it violates anything. The schedule of a mended violation
 * cannot always be followed to its end. At its end, liveness properties must still be able to hold. `undetermined`: too
 * little of it could be executed.
 *
 * @throws UsageError if its first step is not enabled, so it belongs to another system
 */
export const trySchedule = (
  config: LoadedConfig,
  schedule: readonly string[],
  { variant = 0, seed = 1, ...options }: TryOptions,
): Promise<Tried> => {
  requireAllowed(options.allowSkipped)
  // A variant is an offset of the seed.
  return inSession(config, { ...options, seed: seed + variant }, async session => {
    const properties = select(session.system.properties, options.property)
    const executor = new Executor(session.cluster, properties)
    await executor.reset()
    if (executor.violation?.kind === 'crash') throw new DoesNotStart(executor.violation)
    const offered = labelsOf(executor.offered())
    const places = await attempt(executor, schedule)
    const skipped = places.map(place => schedule[place]!)
    const executed = executor.labels()
    const came = { schedule: executed, executed: executed.length, skipped, state: session.cluster.state() }
    if (executor.violation) return { ...came, ...(await confirm(session, properties, executed, executor.violation)) }
    const [first] = schedule
    if (first !== undefined && places[0] === 0 && !isAllowed(first, options.allowSkipped))
      throw new UsageError(`the schedule begins with "${first}", which is not enabled: ${nearest(first, offered)}`)
    const often = `${executed.length} of the ${counted(schedule.length, 'step')} of the schedule were executed`
    if (tooMany(skipped, options.allowSkipped))
      return {
        ...came,
        verdict: 'undetermined',
        message: `the schedule no longer applies: ${often}; ${leftOut(skipped)}; where the service was mended, allowSkipped: ${skipped.length} accepts this`,
      }
    const found = await recovers(session, properties, executed)
    const message = skipped.length === 0 ? found.message : `${found.message}; ${often}; ${leftOut(skipped)}`
    return { ...came, ...found, message }
  })
}

/** A violation counts only if new processes repeat it at the same step. */
const confirm = async (
  session: Session,
  properties: Properties<GlobalState>,
  schedule: readonly string[],
  violation: Violation,
): Promise<Pick<Tried, 'verdict' | 'message'>> => {
  const { message } = violation
  const difference = await differenceOnNewProcesses(session, properties, schedule, violation)
  if (difference === undefined) return { verdict: 'violated', message }
  return {
    verdict: 'undetermined',
    message: `${headline(message)}; executed once more, by new processes, it ${difference}`,
  }
}

const isAllowed = (label: string, allowed: TryOptions['allowSkipped']): boolean =>
  Array.isArray(allowed) && allowed.includes(label)

const tooMany = (skipped: readonly string[], allowed: TryOptions['allowSkipped'] = 0): boolean =>
  typeof allowed === 'number' ? skipped.length > allowed : skipped.some(label => !allowed.includes(label))

const leftOut = (skipped: readonly string[]): string =>
  `skipped: ${shownList(
    skipped.map(label => `"${label}"`),
    3,
  )}`

/** @throws UsageError */
const requireAllowed = (allowed: unknown): void => {
  const isCount = typeof allowed === 'number' && Number.isInteger(allowed) && allowed >= 0
  if (allowed === undefined || isCount || Array.isArray(allowed)) return
  throw new UsageError(`allowSkipped: expected a number of steps or a list of labels, found ${shown(allowed)}`)
}

/** Whether all liveness properties hold again after a schedule. A crash meanwhile is a violation too. */
const recovers = async (
  { cluster, system, seed, signal }: Session,
  properties: Properties<GlobalState>,
  from: readonly string[],
): Promise<Pick<Tried, 'verdict' | 'message'> & { schedule?: readonly string[] }> => {
  const liveness = Object.fromEntries(Object.entries(properties).filter(([, { kind }]) => kind === 'eventually'))
  if (Object.keys(liveness).length === 0)
    return { verdict: 'held', message: `no violation in ${counted(from.length, 'step')}` }
  const options = { from, seed, signal, search: 'walk', executions: 1 } as const
  const { verdict, message, schedule } = await check(cluster, liveness, { ...options, weights: system.weights })
  return { verdict, message, ...(verdict === 'violated' && { schedule }) }
}
