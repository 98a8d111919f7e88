import { rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { Progress } from '../checker/check.ts'
import { UsageError } from '../checker/errors.ts'
import { headline } from '../checker/executor.ts'
import type { RecordedVerdict, Sample, Verdict } from '../checker/verdict.ts'
import type { GlobalState } from '../harness/config.ts'
import { allowedCpus } from '../harness/hold/affinity.ts'
import { liveTracePath, writeReport } from '../report/report.ts'
import type { LoadedConfig } from './load-config.ts'
import type { CheckOptions } from './options.ts'
import { record, requirePlace } from './record.ts'
import { Samples } from './samples.ts'
import { nodesSeed, search } from './search.ts'
import { inSession, type Session } from './session.ts'
import { newPlace } from './store.ts'

export interface Checked {
  readonly verdict: Verdict
  /** Path of the trace of the violating or suspected execution. */
  readonly trace: string | null
  /** Path of its report, to be opened in a browser. */
  readonly report: string | null
  /** Why there is none, though there should be. */
  readonly reportProblem?: string
  /** Where that execution ended. */
  readonly state: GlobalState | undefined
}

export const defaultOut = '.lastnail'

/** Explores the system of a configuration; a violating execution is executed once more and recorded. */
export const checkConfig = async (config: LoadedConfig, given: CheckOptions): Promise<Checked> => {
  const samples = new Samples()
  const onProgress = (progress: Progress) => {
    samples.add(progress)
    given.onProgress?.(progress)
  }
  const options = { ...given, onProgress }
  const { workers = 1 } = options
  requireWorkers(config, workers)
  // Before this thread is pinned to one.
  const cpus = allowedCpus()
  requirePlace(resolve(options.out ?? defaultOut))
  return inSession(config, { ...options, seed: nodesSeed(options) }, async session => {
    const verdict = await search(session, options, cpus)
    const found = { ...verdict, seed: options.seed ?? session.seed }
    return recordFound(session, found, { options, growth: samples.list })
  })
}

const requireWorkers = ({ path }: LoadedConfig, workers: number): void => {
  if (!Number.isInteger(workers) || workers < 1)
    throw new UsageError(`workers: expected a whole number above zero, found ${workers}`)
  if (workers > 1 && path === '')
    throw new UsageError(`${workers} workers load a configuration each: expected its path, found a system`)
}

const recordFound = async (
  session: Session,
  verdict: Verdict,
  { options, growth }: { options: CheckOptions; growth: readonly Sample[] },
): Promise<Checked> => {
  if (verdict.schedule.length === 0 && verdict.verdict !== 'violated')
    return { verdict, trace: null, report: null, state: undefined }
  const { signal: _, onProgress: __, ...recorded } = options
  const place = newPlace(resolve(options.out ?? defaultOut), session.system.name)
  const trace = join(place, `${verdict.property ?? verdict.kind}.trace`)
  // Whatever was found counts only if new processes do it too.
  session.cluster.endLives()
  const { diverged, violation } = await record(session, trace, verdict.schedule, {
    options: recorded,
    verdict: { ...verdict, growth } satisfies RecordedVerdict,
    variant: verdict.variant,
  })
  const state = session.cluster.state()
  await recordLive(session, trace, verdict, recorded)
  const report = tryReport(trace)
  const isSafety = verdict.verdict === 'violated' && verdict.kind !== 'liveness'
  if (!diverged && (violation || !isSafety)) return { verdict, trace, ...report, state }
  const what = diverged?.message ?? 'did not violate it'
  const message = `${headline(verdict.message)}; executed once more, to be recorded, it ${what}`
  return { verdict: { ...verdict, verdict: 'undetermined', repeated: false, message }, trace, ...report, state }
}

/** Executes the closest live execution as well, into a trace beside that of the dead one. */
const recordLive = async (session: Session, trace: string, verdict: Verdict, options: unknown): Promise<void> => {
  const path = liveTracePath(trace)
  rmSync(path, { force: true })
  const { closestLive: schedule, property, variant } = verdict
  if (schedule === null) return
  const message = `${property} holds at its end: the closest live execution to ${basename(trace)}`
  const live = { verdict: 'held', property: null, kind: null, schedule, message }
  const { diverged } = await record(session, path, schedule, { options, verdict: live, variant })
  if (diverged) rmSync(path)
}

/** What was found is worth more than its report. */
const tryReport = (trace: string): { report: string | null; reportProblem?: string } => {
  try {
    return { report: writeReport(trace) }
  } catch (error) {
    return { report: null, reportProblem: (error as Error).message }
  }
}
