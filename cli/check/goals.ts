import { join, resolve } from 'node:path'
import { counted } from '../../checker/system/brief.ts'
import { Diverged } from '../../checker/system/errors.ts'
import { type Shrunk, shrink } from '../../checker/verdict/shrink-recorded.ts'
import type { SampleExecution } from '../../checker/verdict/sights.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import { quotedForShell } from '../../report/model/quoted.ts'
import { fileNameOf } from '../command/file-name.ts'
import { type CheckOptions, defaultOut, timeOf } from '../command/options.ts'
import { newPlace } from '../command/store.ts'
import { goalName, propertiesFor, reachesGoal } from '../config/goal.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { inSession, type Session } from '../session/session.ts'
import { record } from '../traces/record.ts'
import { search } from './search.ts'
import type { CheckTime } from './time.ts'

/** How the search that follows the goals begins. */
interface AfterGoals {
  readonly options: CheckOptions
  readonly notes: readonly string[]
  /** Date that nodes' clocks showed first on the way. */
  readonly clocksStart: string
  readonly before: SpentOnGoals
  /** A line for each file that could not be written. */
  readonly unwritten: readonly string[]
}

/** What the searches for goals took, with what was executed to shorten the ways to them. */
export interface SpentOnGoals {
  readonly executions: number
  readonly steps: number
  readonly seconds: number
}

/** Where the search for the next goal begins. */
interface Reached {
  readonly name: string
  readonly schedule: readonly string[]
  /** The seed with which nodes draw the same numbers as on this way. */
  readonly seed: number
}

/** The result of the search for one goal. */
interface Looked {
  readonly reached: Reached | undefined
  readonly executions: number
  /** The same, with the executions that shortened the way. */
  readonly spent: number
  readonly steps: number
  readonly notes: readonly string[]
  /** Why its trace could not be written, in lines. */
  readonly unwritten: readonly string[]
  readonly clocksStart: string
}

/**
 * Looks for the goals of a configuration, each where the one before it was reached. Undefined if it has none, or steps to
 * begin with are given. Those that are reached, and the state that came nearest to the first that is not, are kept as
 * traces.
 */
export const lookForGoals = async (
  config: LoadedConfig,
  options: CheckOptions,
  cpus: readonly number[],
  time: CheckTime,
): Promise<AfterGoals | undefined> => {
  const count = [config.definition.goal ?? []].flat().length
  if (count === 0 || options.from !== undefined) return undefined
  const place = newPlace(resolve(options.out ?? defaultOut), config.definition.name)
  const shares = new Shares(options, count + 1, time)
  const all: Looked[] = []
  let reached: Reached | undefined
  let clocksStart: string | undefined
  for (let goal = 0; goal < count; goal++) {
    const own = { ...options, ...shares.next(), ...beginning(options, reached) }
    const looked = await inSession(config, { ...own, clocksStart }, session =>
      lookFor(session, { options: own, goal, place, before: reached, cpus }),
    )
    shares.spend(looked.executions)
    all.push(looked)
    clocksStart = looked.clocksStart
    if (looked.reached === undefined) break
    reached = looked.reached
  }
  const notes = all.flatMap(looked => notesOf(looked, looked.reached === reached))
  const before = {
    executions: all.reduce((sum, { spent }) => sum + spent, 0),
    steps: all.reduce((sum, { steps }) => sum + steps, 0),
    seconds: time.seconds,
  }
  const last = { ...options, ...shares.last(), ...beginning(options, reached) }
  return { options: last, notes, clocksStart: clocksStart!, before, unwritten: all.flatMap(each => each.unwritten) }
}

const beginning = ({ seed = 1 }: CheckOptions, reached: Reached | undefined): Pick<CheckOptions, 'seed' | 'from'> =>
  reached ? { from: reached.schedule, seed: reached.seed } : { seed }

interface Looking {
  readonly options: CheckOptions
  /** Index of the goal. */
  readonly goal: number
  /** Directory for traces. */
  readonly place: string
  readonly before: Reached | undefined
  readonly cpus: readonly number[]
}

const lookFor = async (session: Session, { options, goal, place, before, cpus }: Looking): Promise<Looked> => {
  const { system, clocksStart } = session
  const { name } = system.goals[goal]!
  const found = await search(session, { ...options, goal, leavesExplanation: true }, cpus)
  const { executions, steps, variant } = found
  const looked = { executions, spent: executions, steps, clocksStart }
  if (!isReached(found)) {
    const nearest = found.met.nearest && (await keepNearest(session, { goal, place, nearest: found.met.nearest }))
    const { notes = [], unwritten = [] } = nearest ?? {}
    return { ...looked, reached: undefined, notes: [describeMissed(name, found, before), ...notes], unwritten }
  }
  const { schedule, minimal, executions: more } = await shorten(session, found, { goal, options })
  const trace = join(place, `goal-${goal + 1}-${fileNameOf(name)}.trace`)
  const { repeated, unwritten } = await keepWay(session, trace, { schedule, variant, goal })
  const reached = { name, schedule, seed: (options.seed ?? 1) + variant }
  const isKept = repeated && unwritten.length === 0
  const notes = describeTrace(trace, { name, isKept, minimal })
  return { ...looked, spent: executions + more, reached, notes, unwritten }
}

/** @param isLast whether the search that follows begins there */
const notesOf = ({ reached, executions, notes }: Looked, isLast: boolean): string[] => {
  if (reached === undefined) return [...notes]
  const steps = `after ${counted(reached.schedule.length, 'step')}: found in ${counted(executions, 'execution')}`
  const said = isLast ? `executions began where "${reached.name}" holds, ${steps}` : `"${reached.name}" holds ${steps}`
  return [said, ...notes]
}

const isReached = ({ verdict, property }: Verdict) => verdict === 'violated' && property === goalName

/** A check shrinks what it finds for a limited time, so it may not have come to the end of it. */
const shorten = async (
  { cluster, system, signal }: Session,
  { schedule, variant }: Verdict,
  { goal, options }: Pick<Looking, 'goal' | 'options'>,
): Promise<Pick<Shrunk, 'schedule' | 'minimal' | 'executions'>> => {
  const time = timeOf(options)
  const limits = time === undefined ? { executions: shrinkExecutionsMax } : { milliseconds: time * shrinkShare }
  try {
    const properties = propertiesFor(system, { goal })
    return await shrink(cluster, properties, schedule, reachesGoal, {
      ...limits,
      signal,
      variant,
      weights: system.weights,
    })
  } catch (error) {
    if (!(error instanceof Diverged)) throw error
    return { schedule, minimal: false, executions: 0 }
  }
}

/** Limit on shrinking the way to a goal, of the time for the search for it. A longer way makes every later execution longer. */
const shrinkShare = 1 / 2
const shrinkExecutionsMax = 2_000

interface Kept {
  readonly repeated: boolean
  /** Why its trace could not be written, in lines. */
  readonly unwritten: readonly string[]
}

/** Records an execution that violates nothing. */
const keep = async (
  session: Session,
  path: string,
  { schedule, variant }: SampleExecution,
  { message, options }: { readonly message: string; readonly options: object },
): Promise<Kept> => {
  const held = { verdict: 'held', property: null, kind: null, schedule, message }
  const how = { options, conclude: () => held, variant, allowFindings: true }
  const { diverged, unwritten } = await record(session, path, schedule, how)
  return { repeated: diverged === undefined, unwritten: unwritten === undefined ? [] : [unwritten] }
}

/** Records a way to a goal, with the goal. */
export const keepWay = (
  session: Session,
  path: string,
  { goal, ...execution }: SampleExecution & WayToGoal,
): Promise<Kept> => {
  const message = `"${session.system.goals[goal]!.name}" holds at its end`
  return keep(session, path, execution, { message, options: { goal } satisfies WayToGoal })
}

/** Options in the header of the trace of a way to a goal. */
export interface WayToGoal {
  /** Index of the goal. */
  readonly goal: number
}

const keepNearest = async (
  session: Session,
  { goal, place, nearest }: Pick<Looking, 'goal' | 'place'> & { readonly nearest: SampleExecution },
): Promise<Pick<Looked, 'notes' | 'unwritten'>> => {
  const { name } = session.system.goals[goal]!
  const trace = join(place, `goal-${goal + 1}-${fileNameOf(name)}-nearest.trace`)
  const message = `the state that came nearest to "${name}" is at its end`
  const { repeated, unwritten } = await keep(session, trace, nearest, { message, options: {} })
  if (!repeated || unwritten.length > 0) return { notes: [], unwritten }
  return {
    notes: [
      `the nearest state to "${name}", that is the one of which its function read most before it answered no, was met after ${counted(nearest.schedule.length, 'step')}: ${trace}`,
    ],
    unwritten,
  }
}

/** Lines that say what can be done with the trace of a way. */
export const describeTrace = (
  trace: string,
  { name, isKept, minimal }: { readonly name: string; readonly isKept: boolean; readonly minimal: boolean },
): string[] => [
  ...(minimal ? [] : [`the way to "${name}" may be longer than it must be: the time for shortening it was over`]),
  ...(isKept ? [`to begin where "${name}" holds: --from ${quotedForShell(trace)}`] : []),
]

const describeMissed = (name: string, { executions, verdict, message }: Verdict, before: Reached | undefined): string =>
  `"${name}" was not reached in ${counted(executions, 'execution')}${verdict === 'held' ? '' : ` (${message})`}: executions began ${before ? `where "${before.name}" holds` : 'at the start'}`

/** Notes of how executions began, which say nothing of a shorter schedule. */
export const isAboutBeginning = (note: string): boolean =>
  /^(executions began where ".*" holds|to begin where "|the way to "|the nearest state to "|".*" (was not reached in|holds after) )/s.test(
    note,
  )

/** Divides the budget of a check among its searches: each gets the same share of what those before it left. */
class Shares {
  readonly #options: CheckOptions
  readonly #time: CheckTime
  #left: number
  #executions = 0

  constructor(options: CheckOptions, count: number, time: CheckTime) {
    this.#options = options
    this.#time = time
    this.#left = count
  }

  next(): Pick<CheckOptions, 'milliseconds' | 'executions'> {
    const share = 1 / this.#left
    this.#left -= 1
    const milliseconds = this.#time.leftToSearch
    return { ...(milliseconds !== undefined && { milliseconds: milliseconds * share }), ...this.#part(share) }
  }

  spend(executions: number): void {
    this.#executions += executions
  }

  /** Result of the last search, which has all the time that is left. */
  last(): Pick<CheckOptions, 'executions'> {
    return this.#part(1)
  }

  #part(share: number): Pick<CheckOptions, 'executions'> {
    const { executions } = this.#options
    return {
      ...(executions !== undefined && {
        executions: Math.max(1, Math.floor((executions - this.#executions) * share)),
      }),
    }
  }
}
