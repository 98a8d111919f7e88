import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { bucketOf } from '../../campaign/schedules/bucket.ts'
import { type KeptSchedule, schedulesIn } from '../../campaign/schedules/corpus.ts'
import { readSchedule, writeSchedule } from '../../campaign/schedules/file.ts'
import { type Change, type Followed, followSchedule, type Missing } from '../../campaign/schedules/follow.ts'
import type { Schedule } from '../../campaign/schedules/schedule.ts'
import { Executor, type Properties } from '../../checker/cells/executor.ts'
import { headline, type Violation } from '../../checker/cells/violation.ts'
import { shownList } from '../../checker/system/brief.ts'
import { DoesNotStart, UsageError } from '../../checker/system/errors.ts'
import { Writing } from '../../checker/system/written.ts'
import type { GlobalState } from '../../harness/config/config.ts'
import { nearest } from '../../harness/config/config.ts'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { inSession, type Session } from '../session/session.ts'
import { differenceOnNewProcesses, lookForLifeAfter } from '../traces/confirm.ts'
import { sessionKept } from '../traces/recorded.ts'

/** The result of executing a kept schedule on the present build. */
export interface Regressed {
  readonly file: string
  readonly property: string | null
  /** `passes`: executed to its end without a violation. */
  readonly outcome: 'fails' | 'passes' | 'no longer applies'
  /** Steps of the schedule that were executed. */
  readonly executed: number
  readonly of: number
  /** Steps that were executed in place of steps that were not enabled. */
  readonly adapted: readonly Change[]
  /** One line. */
  readonly message: string
}

export interface RegressOptions {
  /** Overrides the configurations that the schedules name. */
  readonly config?: string | undefined
  /** Limit on executions for a schedule with steps that are not enabled. */
  readonly executions: number
  /** Rewrites schedules that were adapted and still fail or pass, as they were executed. */
  readonly update?: boolean | undefined
  readonly onSchedule?: ((file: string, ordinal: number, of: number) => void) | undefined
}

/**
 * Executes kept schedules on the present build.
 *
 * @param path of a schedule or of a directory of schedules
 *
 * @throws UsageError before anything is executed if there is none, or one is torn, of a newer format, or of another
 * system
 */
export const regress = async (path: string, options: RegressOptions): Promise<AllRegressed> => {
  const kept = keptAt(path)
  const tasks = await Promise.all(
    kept.map(async each => ({ ...each, config: await configOfSchedule(each, options.config) })),
  )
  const schedules: Regressed[] = []
  const unwritten: string[] = []
  for (const [index, { path: file, schedule, config }] of tasks.entries()) {
    options.onSchedule?.(file, index + 1, tasks.length)
    const came = await tryKept(config, schedule, options.executions)
    if (options.update && came.adapted.length > 0 && came.outcome !== 'no longer applies')
      unwritten.push(...update(file, adapted(schedule, [...came.labels])))
    const { labels: _, ...told } = came
    schedules.push({ file, ...told })
  }
  return { schedules, unwritten }
}

export interface AllRegressed {
  readonly schedules: readonly Regressed[]
  /** Why schedules could not be rewritten, in lines. */
  readonly unwritten: readonly string[]
}

/** Returns why it could not be written, if so. */
const update = (file: string, schedule: Schedule): string[] => {
  const writing = new Writing()
  writing.try(() => writeSchedule(file, schedule))
  return writing.problem === undefined ? [] : [writing.problem]
}

/** A later finding of the same bug must be known by the bucket of the steps as they are now. */
const adapted = (schedule: Schedule, labels: string[]): Schedule => ({
  ...schedule,
  labels,
  bucket: bucketOf({ ...schedule, labels }),
})

/** @throws UsageError */
export const keptAt = (path: string): KeptSchedule[] => {
  if (!existsSync(path)) throw new UsageError(`expected schedules in ${path}: there is no such file or directory`)
  if (!statSync(path).isDirectory()) return [{ path, schedule: readSchedule(path) }]
  const kept = schedulesIn(path)
  if (kept.length === 0) throw new UsageError(`expected schedules in ${path}: it has no .json file`)
  return kept
}

/** The present configuration of a schedule. @throws UsageError if it defines another system */
export const configOfSchedule = async ({ path, schedule }: KeptSchedule, given?: string): Promise<LoadedConfig> => {
  const config = await loadConfig(given ?? resolve(dirname(path), schedule.config))
  const { name } = config.definition
  if (name !== schedule.system)
    throw new UsageError(
      `${path} is a schedule of the system "${schedule.system}", and ${config.path} defines "${name}"`,
    )
  return config
}

/** Why the present properties cannot be violated as a schedule's was, in one line; undefined if they can. */
export const misfitOf = (
  { property, kind }: Pick<Schedule, 'property' | 'kind'>,
  properties: Properties<GlobalState>,
): string | undefined => {
  if (property === null) return undefined
  if (!Object.hasOwn(properties, property))
    return `there is no property ${property} any more: ${nearest(property, Object.keys(properties))}`
  const now = properties[property]!
  // A bound in time makes a liveness property one of safety too.
  const isSame = kind === 'liveness' ? now.kind === 'eventually' : now.kind === 'always' || now.withinMs !== undefined
  return isSame ? undefined : `${property} was violated as ${kind}, and now it is of the kind ${now.kind}`
}

type Came = Omit<Regressed, 'file'> & { readonly labels: readonly string[] }

const tryKept = (config: LoadedConfig, schedule: Schedule, executions: number): Promise<Came> =>
  inSession(config, sessionKept(schedule), async session => {
    const { property, labels } = schedule
    const { properties: all } = session.system
    const misfit = misfitOf(schedule, all)
    if (misfit !== undefined) {
      const nothing = { property, executed: 0, of: labels.length, adapted: [], labels: [] }
      return { ...nothing, outcome: 'no longer applies', message: misfit }
    }
    const properties = property === null ? {} : { [property]: all[property]! }
    const executor = new Executor(session.cluster, properties)
    const followed = await followSchedule(executor, labels, { executions })
    const { violation } = executor
    if (violation?.kind === 'crash' && violation.step === 0 && schedule.kind !== 'crash')
      throw new DoesNotStart(violation)
    executor.end()
    const told = { property, executed: followed.executed, of: labels.length, adapted: followed.changes }
    const undecided = property === null ? undefined : executor.undecided.get(property)
    const judged = undecided
      ? ({ outcome: 'no longer applies', message: undecided } as const)
      : await judge(session, schedule, followed, violation)
    return { ...told, labels: followed.labels, ...judged }
  })

type Judged = Pick<Regressed, 'outcome' | 'message'>

const judge = async (
  session: Session,
  schedule: Schedule,
  followed: Followed,
  violation: Violation | undefined,
): Promise<Judged> => {
  if (violation) return confirm(session, followed.labels, violation)
  if (followed.missing) return { outcome: 'no longer applies', message: describeMissing(followed.missing) }
  const { length } = schedule.labels
  const steps = length === 1 ? 'its one step was executed' : `all ${length} steps were executed`
  if (schedule.kind !== 'liveness') return { outcome: 'passes', message: `${steps}, and nothing was violated` }
  const { isDead, what } = await lookForLifeAfter(session, { ...schedule, schedule: followed.labels })
  return isDead
    ? { outcome: 'fails', message: `${steps}; then it ${what}: ${schedule.property} does not hold again` }
    : { outcome: 'passes', message: `${steps}; then it ${what}` }
}

/** A violation counts only if new processes repeat it at the same step. */
const confirm = async (session: Session, labels: readonly string[], violation: Violation): Promise<Judged> => {
  const { property, message } = violation
  const properties = property === undefined ? {} : { [property]: session.system.properties[property]! }
  const difference = await differenceOnNewProcesses(session, properties, labels, violation)
  if (difference === undefined) return { outcome: 'fails', message: headline(message) }
  return {
    outcome: 'no longer applies',
    message: `it does not repeat: ${headline(message)}; executed once more, by new processes, it ${difference}`,
  }
}

const describeMissing = ({ step, label, offered }: Missing): string => {
  const instead =
    offered.length === 0 ? 'nothing is enabled' : `enabled are ${shownList(offered.map(each => `"${each}"`))}`
  return `step ${step}, "${label}", is not enabled any more: ${instead}`
}

export const describeRegressed = (all: readonly Regressed[]): string[] => all.flatMap(describeOne)

const describeOne = ({ file, outcome, executed, of, adapted, message }: Regressed): string[] => [
  `${outcome}: ${file} (${executed} of ${of} steps)`,
  `    ${message}`,
  ...adapted.map(change => `    ${describeChange(change)}`),
]

const describeChange = ({ step, was, is }: Change): string => {
  if (was === null) return `before step ${step}: "${is}" was executed, which the schedule does not have`
  return is === null ? `step ${step} was left out: "${was}"` : `step ${step}: "${is}" replaced "${was}"`
}
