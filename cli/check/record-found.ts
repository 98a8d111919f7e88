import { rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { headline } from '../../checker/cells/violation.ts'
import { BudgetSpent } from '../../checker/system/budget.ts'
import { Writing } from '../../checker/system/written.ts'
import type { Sample, Unsteady, Verdict } from '../../checker/verdict/verdict.ts'
import { leaveTime } from '../../harness/hold/turns/interruption.ts'
import { liveTracePath, writeIssue, writeReport } from '../../report/report.ts'
import { fileNameOf } from '../command/file-name.ts'
import { type CheckOptions, defaultOut } from '../command/options.ts'
import { newPlace } from '../command/store.ts'
import type { Session } from '../session/session.ts'
import { recordConfirmed } from '../traces/confirm.ts'
import { record } from '../traces/record.ts'
import type { Checked } from './checked.ts'
import { deeperThan, furtherThan } from './notes.ts'

/** After a signal, what was found is still executed once more and written, if that takes no longer than this. */
const graceMs = 8_000

interface Recording {
  readonly options: CheckOptions
  readonly growth: readonly Sample[]
  /** Whether one execution is recorded if nothing was found. */
  readonly hasSample?: boolean
  /** Time for walks that confirm a death, in milliseconds. */
  readonly milliseconds?: number | undefined
}

/**
 * Executes what was found once more and records it in a trace with a report: a violation, what could not be decided, or, if
 * asked for, one execution of a search that held.
 */
export const recordFound = async (session: Session, verdict: Verdict, recording: Recording): Promise<Checked> => {
  leaveTime(graceMs)
  try {
    if (verdict.verdict === 'held') return await recordHeld(session, verdict, recording)
    if (verdict.verdict === 'violated' || verdict.schedule.length > 0 || verdict.property !== null)
      return await recordFinding(session, verdict, recording)
    return verdict.inDoubt ? await recordDoubt(session, verdict, verdict.inDoubt, recording) : left(session, verdict)
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    const why = error.what === 'aborted' ? 'interrupted' : 'the time was over'
    return left(session, { ...verdict, message: `${headline(verdict.message)}; ${why} before it was recorded` })
  }
}

/** Nothing is recorded. */
const left = ({ clocksStart }: Session, verdict: Verdict): Checked => ({
  ...{ verdict, trace: null, report: null, clocksStart, state: undefined },
})

const recordFinding = async (
  session: Session,
  verdict: Verdict,
  { options, growth, milliseconds }: Recording,
): Promise<Checked> => {
  const trace = pathFor(session, options, verdict.property ?? verdict.kind ?? 'suspicion')
  const { confirmed, unwritten } = await recordConfirmed(session, trace, verdict, {
    options: recordedOf(options),
    property: options.property,
    // The search makes none from a state in which nothing is left that could happen.
    isWalked: (verdict.criticalTransition?.walks ?? 0) > 0,
    added: { growth },
    milliseconds,
  })
  const state = session.cluster.state()
  if (unwritten !== undefined) return { ...left(session, confirmed), state, unwritten: [unwritten] }
  const isLiveRecorded = confirmed === verdict && !session.signal.aborted
  const noLive = isLiveRecorded ? await recordLive(session, trace, verdict, options) : undefined
  return { ...recorded(session, confirmed, trace, options), state, unwritten: noLive === undefined ? [] : [noLive] }
}

/** Records the execution in which something could not be decided, as far as it can be executed again. */
const recordDoubt = async (
  session: Session,
  verdict: Verdict,
  { schedule, variant }: Unsteady,
  { options, growth }: Recording,
): Promise<Checked> => {
  const trace = pathFor(session, options, 'undetermined')
  const conclude = () => ({ ...verdict, schedule, variant, growth })
  const how = { options: recordedOf(options), variant, allowFindings: true }
  const { unwritten } = await record(session, trace, schedule, { ...how, conclude, concludeCut: conclude })
  const state = session.cluster.state()
  if (unwritten !== undefined) return { ...left(session, verdict), state, unwritten: [unwritten] }
  return { ...recorded(session, verdict, trace, options), state }
}

const recorded = (session: Session, verdict: Verdict, trace: string, options: CheckOptions): Checked => {
  const { clocksStart, config } = session
  const isUndetermined = verdict.verdict === 'undetermined'
  const further = isUndetermined ? furtherThan(config.path, verdict, trace, options) : []
  return {
    verdict: { ...verdict, notes: [...verdict.notes, ...further] },
    trace,
    ...(isUndetermined && { sample: trace }),
    ...tryReport(trace),
    clocksStart,
    state: undefined,
  }
}

const recordHeld = async (
  session: Session,
  verdict: Verdict,
  { options, hasSample = false }: Recording,
): Promise<Checked> => {
  const { sample, unwritten } = hasSample ? await recordSample(session, verdict, options) : noSample
  const report = sample ? tryReport(sample) : {}
  const { path } = session.config
  const deeper = path === '' ? {} : { deeper: deeperThan(path, verdict, options) }
  return { ...left(session, verdict), sample, unwritten, ...report, ...deeper }
}

/** Records one execution of a search that held, for people who want to see what was executed. */
const recordSample = async (
  session: Session,
  { verdict, met: { sample } }: Verdict,
  options: CheckOptions,
): Promise<RecordedSample> => {
  if (sample === undefined || session.signal.aborted) return noSample
  const path = pathFor(session, options, 'sample')
  const message = 'one execution of a check that found no violation'
  const { variant, schedule } = sample
  const conclude = () => ({ verdict, property: null, kind: null, schedule, message })
  const how = { options: recordedOf(options), conclude, variant }
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

/** Executes the closest live execution too, and records it beside the trace of the dead one. Returns why not, if so. */
const recordLive = async (
  session: Session,
  trace: string,
  verdict: Verdict,
  options: CheckOptions,
): Promise<string | undefined> => {
  const path = liveTracePath(trace)
  rmSync(path, { force: true })
  const { closestLive: schedule, property, variant } = verdict
  if (schedule === null) return undefined
  const message = `${property} holds at its end: the closest live execution to ${basename(trace)}`
  const conclude = () => ({ verdict: 'held', property: null, kind: null, schedule, message })
  const how = { options: recordedOf(options), conclude, variant }
  const { diverged, unwritten } = await record(session, path, schedule, how)
  if (diverged) rmSync(path, { force: true })
  return unwritten
}

/** Where no directory can be made, the path is in that of the system, and the trace then says why. */
const pathFor = ({ system }: Session, { out = defaultOut }: CheckOptions, name: string): string => {
  const writing = new Writing()
  const place = writing.try(() => newPlace(resolve(out), system.name)) ?? join(resolve(out), fileNameOf(system.name))
  return join(place, `${fileNameOf(name)}.trace`)
}

const recordedOf = ({ signal: _, onProgress: __, ...options }: CheckOptions): object => options

/** If the report cannot be written, the finding is reported all the same. */
export const tryReport = (trace: string): Pick<Checked, 'report' | 'reportProblem' | 'issue'> => {
  try {
    const report = writeReport(trace)
    const issue = writeIssue(trace)
    return { report, ...(issue !== undefined && { issue }) }
  } catch (error) {
    return { report: null, reportProblem: (error as Error).message }
  }
}
