import { resolve } from 'node:path'
import { select } from '../../checker/cells/select.ts'
import type { Progress } from '../../checker/check.ts'
import type { SearchName } from '../../checker/searches/search.ts'
import { UsageError } from '../../checker/system/errors.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import { allowedCpus } from '../../linux/affinity.ts'
import { type CheckOptions, defaultOut, timeOf } from '../command/options.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { inSession } from '../session/session.ts'
import { requirePlace } from '../traces/record.ts'
import { type Checked, isSearched } from './checked.ts'
import { explain } from './explain.ts'
import { lookForGoals, type SpentOnGoals } from './goals.ts'
import { metBy } from './met.ts'
import { notAmong } from './not-among.ts'
import { aboutCallsLeft, aboutWrites, neverMet } from './notes.ts'
import { recordFound } from './record-found.ts'
import { Samples } from './samples.ts'
import { search, sessionOfCheck } from './search.ts'
import { CheckTime } from './time.ts'

/**
 * Explores the system of a configuration. A violating execution is executed once more and recorded.
 *
 * @param hasSample whether one execution is recorded if nothing is found
 */
export const checkConfig = async (
  config: LoadedConfig,
  given: CheckOptions,
  { hasSample = false } = {},
): Promise<Checked> => {
  const time = new CheckTime(timeOf(given))
  const samples = new Samples()
  const onProgress = (progress: Progress) => {
    samples.add(progress)
    given.onProgress?.(progress)
  }
  const options = { ...given, onProgress }
  const { workers = 1 } = options
  requireWorkers(config, workers)
  // Must be read before this thread is pinned to one CPU.
  const cpus = allowedCpus()
  requirePlace(resolve(options.out ?? defaultOut))
  const goals = await lookForGoals(config, options, cpus, time)
  const checked = await checkFrom(config, { options, notes: [], ...goals, time, cpus, samples, hasSample })
  return { ...checked, verdict: inAll(checked.verdict, time) }
}

interface Beginning {
  readonly options: CheckOptions
  readonly cpus: readonly number[]
  readonly samples: Samples
  /** Notes of the searches for goals. */
  readonly notes: readonly string[]
  /** Date that nodes' clocks showed first in those searches. */
  readonly clocksStart?: string
  /** What those searches took. */
  readonly before?: SpentOnGoals
  /** A line for each file that they could not write. */
  readonly unwritten?: readonly string[]
  readonly time: CheckTime
  readonly hasSample: boolean
}

/** The verdict with what the searches for goals took. */
const after = (verdict: Verdict, { executions, steps, seconds }: SpentOnGoals): Verdict => {
  const { discovery } = verdict
  return {
    ...verdict,
    executions: executions + verdict.executions,
    spent: { ...verdict.spent, goal: executions },
    steps: steps + verdict.steps,
    seconds: Number((seconds + verdict.seconds).toFixed(3)),
    discovery: discovery && {
      ...discovery,
      execution: executions + discovery.execution,
      seconds: Number((seconds + discovery.seconds).toFixed(3)),
    },
  }
}

/** The verdict with the seconds of all that was done. */
const inAll = (verdict: Verdict, time: CheckTime): Verdict => {
  const { seconds } = time
  const stepsPerSecond = Math.round(verdict.steps / seconds)
  return { ...verdict, seconds: Number(seconds.toFixed(3)), stepsPerSecond }
}

/** Walks that confirm a death may take this long, in milliseconds, even if the time is over. */
const confirmMsMin = 5_000
/** To say why something did not repeat may take this long even then. */
const explainMsMin = 5_000

const checkFrom = async (
  config: LoadedConfig,
  { options, cpus, samples, notes, clocksStart, before, unwritten: unwrittenBefore = [], time, hasSample }: Beginning,
): Promise<Checked> => {
  const how = sessionOfCheck(options)
  return inSession(config, { ...options, clocksStart, ...how }, async session => {
    const searched = await search(
      session,
      { ...options, milliseconds: time.leftToSearch, recordingMs: time.recordingMs },
      cpus,
    )
    const verdict = before ? after(searched, before) : searched
    const system = evaluated(session.system, options)
    const unmet = isSearched(verdict)
      ? neverMet(system, verdict.met, { isAlone: isOfNodesAlone(verdict.coverage) })
      : []
    const found = {
      ...verdict,
      seed: options.seed ?? session.seed,
      notes: [
        ...notes,
        ...verdict.notes,
        ...unmet,
        ...aboutCallsLeft(system, verdict),
        ...aboutWrites(system, verdict),
      ],
    }
    const explanation = await explain(session, found, Math.max(explainMsMin, time.left))
    const checked = await recordFound(session, found, {
      options: { ...options, ...(how.timing && { timing: how.timing }) },
      growth: samples.list,
      hasSample,
      milliseconds: Math.max(confirmMsMin, time.left),
    })
    const met = metBy(system, verdict.met)
    const unwritten = [...unwrittenBefore, ...(checked.unwritten ?? [])]
    return { ...checked, unwritten, explanation, met, notAmong: notAmong(system, checked.verdict) }
  })
}

/** Whether only nodes alone were searched. */
const isOfNodesAlone = ({ searches }: Verdict['coverage']): boolean =>
  searches.length > 0 && searches.every(({ name }) => ofNodesAlone.includes(name))

const ofNodesAlone: readonly SearchName[] = ['straight', 'local', 'consequence', 'deviations']

/** Each worker has several processes and takes some hundred megabytes. */
const workersMax = 256

const requireWorkers = ({ path }: LoadedConfig, workers: number): void => {
  if (!Number.isInteger(workers) || workers < 1 || workers > workersMax)
    throw new UsageError(`workers: expected a whole number from 1 to ${workersMax}, found ${workers}`)
  if (workers > 1 && path === '')
    throw new UsageError(`${workers} workers load a configuration each: expected its path, found a system`)
}

/** The system with the properties that this search evaluates. */
const evaluated = (system: ResolvedSystem, { property }: CheckOptions): ResolvedSystem => ({
  ...system,
  properties: select(system.properties, property),
})
