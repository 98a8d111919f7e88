import { Executor, type Properties } from '../checker/cells/executor.ts'
import { replay } from '../checker/cells/replay.ts'
import { attempt } from '../checker/cells/schedule.ts'
import { headline, type Violation } from '../checker/cells/violation.ts'
import { check, select } from '../checker/check.ts'
import { DoesNotStart, UsageError } from '../checker/errors.ts'
import { labelsOf } from '../checker/labels.ts'
import { differenceFrom } from '../checker/verdict/confirm.ts'
import type { GlobalState } from '../harness/config.ts'
import { nearest } from '../harness/config.ts'
import type { LoadedConfig } from './load-config.ts'
import { inSession, type Session, type SessionOptions } from './session.ts'

export interface TryOptions extends SessionOptions {
  /** Looks at this property alone. */
  readonly property?: string | undefined
  /** Which random numbers the nodes draw, as the verdict says that has the schedule; 0 by default. */
  readonly variant?: number | undefined
  /**
   * What may be left out of the schedule because it is not enabled any more: so many steps, or these. By default half of
   * them: a service that was mended often does something else from the mended step on; of one that does not know half of
   * the schedule, it says nothing.
   */
  readonly allowSkipped?: number | readonly string[] | undefined
}

/** What came of a schedule that was tried. */
export interface Tried {
  readonly verdict: 'violated' | 'held' | 'undetermined'
  /** One line. */
  readonly message: string
  /** What was executed: of the schedule, and where nothing else violates, a walk from there that does. */
  readonly schedule: readonly string[]
  /** Steps of the schedule that were executed, and that were left out. */
  readonly executed: number
  readonly skipped: readonly string[]
  /** Where it ended. */
  readonly state: GlobalState
}

/**
 * Executes what can be executed of a schedule, and says whether it violates anything: the schedule of a violation that
 * was mended cannot always be followed to its end. Where it ends, what must hold eventually must still be able to.
 * `undetermined`: too little of it can be executed to say anything.
 *
 * @throws UsageError where its first step is not on offer: it is not of this system
 */
export const trySchedule = (
  config: LoadedConfig,
  schedule: readonly string[],
  { variant = 0, seed = 1, ...options }: TryOptions,
): Promise<Tried> =>
  // A variant is a seed so many numbers further.
  inSession(config, { ...options, seed: seed + variant }, async session => {
    const properties = select(session.system.properties, options.property)
    const executor = new Executor(session.cluster, properties)
    await executor.reset()
    if (executor.violation?.kind === 'crash') throw new DoesNotStart(executor.violation)
    const offered = labelsOf(executor.offered())
    const skipped = await attempt(executor, schedule)
    const executed = executor.labels()
    const came = { schedule: executed, executed: executed.length, skipped, state: session.cluster.state() }
    if (executor.violation) return { ...came, ...(await confirm(session, properties, executed, executor.violation)) }
    const [first] = schedule
    if (first !== undefined && skipped[0] === first && !isAllowed(first, options.allowSkipped))
      throw new UsageError(`the schedule begins with "${first}", which is not on offer: ${nearest(first, offered)}`)
    const often = `${executed.length} of the ${schedule.length} steps of the schedule were executed`
    if (tooMany(skipped, schedule, options.allowSkipped))
      return {
        ...came,
        verdict: 'undetermined',
        message: `the schedule no longer applies: ${often}; ${leftOut(skipped)}`,
      }
    const found = await recovers(session, properties, executed)
    const message = skipped.length === 0 ? found.message : `${found.message}; ${often}; ${leftOut(skipped)}`
    return { ...came, ...found, message }
  })

/** A violation is one only where it comes again, by new processes, at the same step. */
const confirm = async (
  { cluster }: Session,
  properties: Properties<GlobalState>,
  schedule: readonly string[],
  { kind, property, message }: Violation,
): Promise<Pick<Tried, 'verdict' | 'message'>> => {
  cluster.endLives()
  const difference = differenceFrom(
    { kind, property: property ?? null, schedule },
    await replay(cluster, properties, schedule),
  )
  if (difference === undefined) return { verdict: 'violated', message }
  return {
    verdict: 'undetermined',
    message: `${headline(message)}; executed once more, by new processes, it ${difference}`,
  }
}

const isAllowed = (label: string, allowed: TryOptions['allowSkipped']): boolean =>
  Array.isArray(allowed) && allowed.includes(label)

const tooMany = (
  skipped: readonly string[],
  schedule: readonly string[],
  allowed: TryOptions['allowSkipped'] = Math.floor(schedule.length / 2),
): boolean => (typeof allowed === 'number' ? skipped.length > allowed : skipped.some(label => !allowed.includes(label)))

const shownMax = 3

const leftOut = (skipped: readonly string[]): string => {
  const shown = skipped.slice(0, shownMax).map(label => `"${label}"`)
  const more = skipped.length - shown.length
  return `left out: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Whether all that must hold eventually does so after a schedule. A crash on the way to that is a violation too. */
const recovers = async (
  { cluster, system, seed, signal }: Session,
  properties: Properties<GlobalState>,
  from: readonly string[],
): Promise<Pick<Tried, 'verdict' | 'message'> & { schedule?: readonly string[] }> => {
  const liveness = Object.fromEntries(Object.entries(properties).filter(([, { kind }]) => kind === 'eventually'))
  if (Object.keys(liveness).length === 0) return { verdict: 'held', message: `no violation in ${from.length} steps` }
  const options = { from, seed, signal, search: 'walk', executions: 1 } as const
  const { verdict, message, schedule } = await check(cluster, liveness, { ...options, weights: system.weights })
  return { verdict, message, ...(verdict === 'violated' && { schedule }) }
}
