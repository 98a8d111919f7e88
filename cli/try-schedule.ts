import { check, select } from '../checker/check.ts'
import { UsageError } from '../checker/errors.ts'
import { Executor, type Properties } from '../checker/executor.ts'
import { attempt } from '../checker/schedule.ts'
import type { GlobalState } from '../harness/config.ts'
import type { LoadedConfig } from './load-config.ts'
import { inSession, type Session, type SessionOptions } from './session.ts'

export interface TryOptions extends SessionOptions {
  /** Looks at this property alone. */
  readonly property?: string | undefined
}

/** What came of a schedule that was tried. */
export interface Tried {
  readonly verdict: 'violated' | 'held' | 'undetermined'
  /** One line. */
  readonly message: string
  /** What could be executed of it. */
  readonly schedule: readonly string[]
  /** Where it ended. */
  readonly state: GlobalState
}

/**
 * Executes what can be executed of a schedule, and says whether it violates anything: the schedule of a violation that
 * was mended cannot be followed to its end. Where it ends, what must hold eventually must still be able to.
 *
 * @throws UsageError where nothing of it can be executed: it is not of this system
 */
export const trySchedule = (config: LoadedConfig, schedule: readonly string[], options: TryOptions): Promise<Tried> =>
  inSession(config, options, async session => {
    const properties = select(session.system.properties, options.property)
    const executor = new Executor(session.cluster, properties)
    await executor.reset()
    await attempt(executor, schedule)
    const executed = executor.labels()
    const state = session.cluster.state()
    if (executed.length === 0 && schedule.length > 0 && !executor.violation)
      throw new UsageError(`no step of the schedule is enabled at the start: expected one such as "${schedule[0]}"`)
    if (executor.violation)
      return { verdict: 'violated', message: executor.violation.message, schedule: executed, state }
    const { verdict, message } = await recovers(session, properties, executed)
    return { verdict, message, schedule: executed, state }
  })

/** Whether all that must hold eventually does so after a schedule. */
const recovers = async (
  { cluster, system, seed, signal }: Session,
  properties: Properties<GlobalState>,
  from: readonly string[],
): Promise<Pick<Tried, 'verdict' | 'message'>> => {
  const liveness = Object.fromEntries(Object.entries(properties).filter(([, { kind }]) => kind === 'eventually'))
  if (Object.keys(liveness).length === 0) return { verdict: 'held', message: `no violation in ${from.length} steps` }
  // Only what the schedule leads to: a crash on the way from there is another matter.
  const options = { from, seed, signal, search: 'walk', executions: 1, allowFindings: true } as const
  return check(cluster, liveness, { ...options, weights: system.weights })
}
