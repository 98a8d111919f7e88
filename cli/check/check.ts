import { rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { BudgetSpent } from '../../checker/budget.ts'
import { headline } from '../../checker/cells/violation.ts'
import { type Progress, select } from '../../checker/check.ts'
import { UsageError } from '../../checker/errors.ts'
import type { Sample, Verdict } from '../../checker/verdict/verdict.ts'
import { Writing } from '../../checker/written.ts'
import type { GlobalState, ResolvedSystem } from '../../harness/config.ts'
import { allowedCpus } from '../../harness/hold/affinity.ts'
import { liveTracePath, writeReport } from '../../report/report.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { fileNameOf } from '../file-name.ts'
import { type CheckOptions, defaultOut } from '../options.ts'
import { inSession, type Session } from '../session/session.ts'
import { newPlace } from '../store.ts'
import { recordConfirmed } from '../traces/confirm.ts'
import { record, requirePlace } from '../traces/record.ts'
import { type Explanation, explain } from './explain.ts'
import { lookForGoals } from './goals.ts'
import { metBy, type WhatWasMet } from './met.ts'
import { aboutCallsLeft, deeperThan, neverMet } from './notes.ts'
import { Samples } from './samples.ts'
import { search, sessionOfCheck } from './search.ts'

export interface Checked {
  readonly verdict: Verdict
  /** Path of the trace of the violating or suspected execution. */
  readonly trace: string | null
  /** Path of the trace of one execution of a search that found nothing, if it was asked for. */
  readonly sample?: string | undefined
  /** Path of its report, to open in a browser. */
  readonly report: string | null
  /** Why the report is missing, if it is. */
  readonly reportProblem?: string
  /** Absent if nothing was searched. */
  readonly met?: WhatWasMet
  /** A command that looks deeper, after a search that found nothing. */
  readonly deeper?: string
  /** Why executions did not repeat, if the verdict is undetermined for that reason. */
  readonly explanation?: Explanation | undefined
  /** What nodes' clocks showed first. */
  readonly clocksStart: string
  /** The state in which the recorded execution ended. */
  readonly state: GlobalState | undefined
  /** What could not be written, in lines. */
  readonly unwritten?: readonly string[]
}

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
  const goals = await lookForGoals(config, options, cpus)
  return checkFrom(config, { options, notes: [], ...goals, cpus, samples, hasSample })
}

interface Beginning {
  readonly options: CheckOptions
  readonly cpus: readonly number[]
  readonly samples: Samples
  /** Notes of the searches for goals. */
  readonly notes: readonly string[]
  /** What nodes' clocks showed first in those searches. */
  readonly clocksStart?: string
  readonly hasSample: boolean
}

const checkFrom = async (
  config: LoadedConfig,
  { options, cpus, samples, notes: before, clocksStart, hasSample }: Beginning,
): Promise<Checked> => {
  const how = sessionOfCheck(options)
  return inSession(config, { ...options, clocksStart, ...how }, async session => {
    const verdict = await search(session, options, cpus)
    const system = evaluated(session.system, options)
    const notes = isSearched(verdict)
      ? neverMet(system, verdict.met, { isAlone: isOfNodesAlone(verdict.coverage) })
      : []
    const found = {
      ...verdict,
      seed: options.seed ?? session.seed,
      notes: [...before, ...verdict.notes, ...notes, ...aboutCallsLeft(system, verdict)],
    }
    const explanation = await explain(session, found)
    const checked = recordFound(session, found, {
      options: { ...options, ...(how.timing && { timing: how.timing }) },
      growth: samples.list,
      hasSample,
    })
    const met = metBy(system, verdict.met)
    return { ...(await checked.catch(error => unrecorded(session, found, error))), explanation, met }
  })
}

/** Whether something was executed and nothing found: then a reader must know how much of the configuration was met. */
/** Whether only nodes alone were searched. */
const isOfNodesAlone = ({ local, deviations, searches }: Verdict['coverage']): boolean =>
  !!(local ?? deviations) &&
  searches.every(({ name }) => name === 'straight' || name === 'local' || name === 'deviations')

export const isSearched = ({ verdict, coverage }: Verdict): boolean => verdict !== 'violated' && coverage.completed > 0

/** Each worker has several processes and takes some hundred megabytes. */
const workersMax = 256

const requireWorkers = ({ path }: LoadedConfig, workers: number): void => {
  if (!Number.isInteger(workers) || workers < 1 || workers > workersMax)
    throw new UsageError(`workers: expected a whole number from 1 to ${workersMax}, found ${workers}`)
  if (workers > 1 && path === '')
    throw new UsageError(`${workers} workers load a configuration each: expected its path, found a system`)
}

/** If the command is interrupted while recording, the finding is reported without its trace. */
const unrecorded = ({ clocksStart }: Session, verdict: Verdict, error: unknown): Checked => {
  if (!(error instanceof BudgetSpent)) throw error
  const message = `${headline(verdict.message)}; interrupted before it was recorded`
  return { verdict: { ...verdict, message }, trace: null, report: null, clocksStart, state: undefined }
}

/** Executes a finding once more and records it in a trace with a report. */
export const recordFound = async (
  session: Session,
  verdict: Verdict,
  { options, growth, hasSample = false }: { options: CheckOptions; growth: readonly Sample[]; hasSample?: boolean },
): Promise<Checked> => {
  const { clocksStart } = session
  if (verdict.schedule.length === 0 && verdict.verdict !== 'violated') {
    const { sample, unwritten } = hasSample ? await recordSample(session, verdict, options) : noSample
    const report = sample ? tryReport(sample) : { report: null }
    return {
      verdict,
      trace: null,
      sample,
      unwritten,
      ...report,
      clocksStart,
      state: undefined,
      ...deeperBy(session, verdict, options),
    }
  }
  const { signal: _, onProgress: __, ...recorded } = options
  const place = placeFor(session, options)
  const trace = join(place, `${fileNameOf(verdict.property ?? verdict.kind ?? 'suspicion')}.trace`)
  const { confirmed, unwritten } = await recordConfirmed(session, trace, verdict, {
    options: recorded,
    property: options.property,
    // The search makes none from a state in which nothing is left that could happen.
    isWalked: (verdict.criticalTransition?.walks ?? 0) > 0,
    added: { growth },
  })
  const came = { verdict: confirmed, clocksStart, state: session.cluster.state() }
  if (unwritten !== undefined) return { ...came, trace: null, report: null, unwritten: [unwritten] }
  const noLive = confirmed === verdict ? await recordLive(session, trace, verdict, recorded) : undefined
  return { ...came, trace, ...tryReport(trace), unwritten: noLive === undefined ? [] : [noLive] }
}

/** The directory for what is recorded. Where none can be made, the traces' own, where the trace then says why. */
const placeFor = ({ system }: Session, { out = defaultOut }: CheckOptions): string => {
  const writing = new Writing()
  return writing.try(() => newPlace(resolve(out), system.name)) ?? join(resolve(out), fileNameOf(system.name))
}

/** Records one execution of a search that held, for people who want to see what was executed. */
const recordSample = async (
  session: Session,
  { verdict, met }: Verdict,
  options: CheckOptions,
): Promise<RecordedSample> => {
  const { sample } = met
  if (verdict !== 'held' || sample === undefined || session.signal.aborted) return noSample
  const { signal: _, onProgress: __, ...recorded } = options
  const path = join(placeFor(session, options), 'sample.trace')
  const message = 'one execution of a check that found no violation'
  const conclusion = { verdict, property: null, kind: null, schedule: sample.schedule, message }
  const { variant, schedule } = sample
  const how = { options: recorded, conclude: () => conclusion, variant }
  const { diverged, unwritten } = await record(session, path, schedule, how)
  if (unwritten !== undefined) return { sample: undefined, unwritten: [unwritten] }
  if (diverged === undefined) return { sample: path, unwritten: [] }
  rmSync(path)
  return noSample
}

interface RecordedSample {
  readonly sample: string | undefined
  readonly unwritten: readonly string[]
}

const noSample: RecordedSample = { sample: undefined, unwritten: [] }

/** The system with the properties that this search evaluates. */
const evaluated = (system: ResolvedSystem, { property }: CheckOptions): ResolvedSystem => ({
  ...system,
  properties: select(system.properties, property),
})

/** The command of a deeper search, after one that found nothing. */
const deeperBy = ({ config }: Session, verdict: Verdict, options: CheckOptions): Pick<Checked, 'deeper'> =>
  verdict.verdict === 'held' && config.path !== '' ? { deeper: deeperThan(config.path, verdict, options) } : {}

/** Executes the closest live execution too, and records it beside the trace of the dead one. Returns why not, if so. */
const recordLive = async (
  session: Session,
  trace: string,
  verdict: Verdict,
  options: object,
): Promise<string | undefined> => {
  const path = liveTracePath(trace)
  rmSync(path, { force: true })
  const { closestLive: schedule, property, variant } = verdict
  if (schedule === null) return undefined
  const message = `${property} holds at its end: the closest live execution to ${basename(trace)}`
  const live = { verdict: 'held', property: null, kind: null, schedule, message }
  const how = { options, conclude: () => live, variant }
  const { diverged, unwritten } = await record(session, path, schedule, how)
  if (diverged) rmSync(path, { force: true })
  return unwritten
}

/** If the report cannot be written, the finding is reported all the same. */
export const tryReport = (trace: string): { report: string | null; reportProblem?: string } => {
  try {
    return { report: writeReport(trace) }
  } catch (error) {
    return { report: null, reportProblem: (error as Error).message }
  }
}
