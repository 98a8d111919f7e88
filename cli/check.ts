import { join, resolve } from 'node:path'
import { UsageError } from '../checker/errors.ts'
import { headline } from '../checker/executor.ts'
import type { Verdict } from '../checker/verdict.ts'
import type { GlobalState } from '../harness/config.ts'
import type { LoadedConfig } from './load-config.ts'
import type { CheckOptions } from './options.ts'
import { record, requirePlace } from './record.ts'
import { nodesSeed, search } from './search.ts'
import { inSession, type Session } from './session.ts'
import { allowedCpus } from './workers.ts'

export interface Checked {
  readonly verdict: Verdict
  /** Path of the trace of the violating or suspected execution. */
  readonly trace: string | null
  /** Where that execution ended. */
  readonly state: GlobalState | undefined
}

export const defaultOut = '.lastnail'

/** Explores the system of a configuration; a violating execution is executed once more and recorded. */
export const checkConfig = async (config: LoadedConfig, options: CheckOptions): Promise<Checked> => {
  const { workers = 1 } = options
  requireWorkers(config, workers)
  const cpus = allowedCpus()
  const workerCpus = Array.from({ length: workers }, (_, index) => cpus[index % cpus.length]!)
  requirePlace(resolve(options.out ?? defaultOut))
  return inSession(config, { ...options, seed: nodesSeed(options) }, async session => {
    const verdict = await search(session, options, workerCpus)
    return recordFound(session, { ...verdict, seed: options.seed ?? session.seed }, options)
  })
}

const requireWorkers = ({ path }: LoadedConfig, workers: number): void => {
  if (!Number.isInteger(workers) || workers < 1)
    throw new UsageError(`workers: expected a whole number above zero, found ${workers}`)
  if (workers > 1 && path === '')
    throw new UsageError(`${workers} workers load a configuration each: expected its path, found a system`)
}

const recordFound = async (session: Session, verdict: Verdict, options: CheckOptions): Promise<Checked> => {
  if (verdict.schedule.length === 0 && verdict.verdict !== 'violated') return { verdict, trace: null, state: undefined }
  const { signal: _, onProgress: __, ...recorded } = options
  const trace = join(resolve(options.out ?? defaultOut), traceName(session, verdict))
  // Whatever was found counts only if new processes do it too.
  session.cluster.endLives()
  const { diverged, violation } = await record(session, trace, verdict.schedule, {
    options: recorded,
    verdict,
    variant: verdict.variant,
  })
  const state = session.cluster.state()
  const isSafety = verdict.verdict === 'violated' && verdict.kind !== 'liveness'
  if (!diverged && (violation || !isSafety)) return { verdict, trace, state }
  const what = diverged?.message ?? 'did not violate it'
  const message = `${headline(verdict.message)}; executed once more, to be recorded, it ${what}`
  return { verdict: { ...verdict, verdict: 'undetermined', repeated: false, message }, trace, state }
}

const traceName = ({ system }: Session, { property, kind }: Verdict) => `${system.name}-${property ?? kind}.trace`
