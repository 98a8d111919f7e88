import { join, resolve } from 'node:path'
import { check, type Progress, type Search } from '../checker/check.ts'
import type { Verdict } from '../checker/verdict.ts'
import type { GlobalState } from '../harness/config.ts'
import type { LoadedConfig } from './load-config.ts'
import { record } from './record.ts'
import { scheduleFrom } from './recorded.ts'
import { inSession, type Session } from './session.ts'

/** How a system is to be checked; every one of these is an option of `lastnail check` too. */
export interface CheckOptions {
  /** `auto` by default. */
  readonly search?: Search | undefined
  /** Time for the search: a minute, unless executions are limited. What it finds is examined after. */
  readonly milliseconds?: number | undefined
  readonly executions?: number | undefined
  /** Of the bounded search, in steps. */
  readonly depth?: number | undefined
  /** Of walks that look for a live state, in steps. */
  readonly walkLength?: number | undefined
  /** Of the search and of the nodes' randomness; 1 by default. */
  readonly seed?: number | undefined
  /** Checks this property alone. */
  readonly property?: string | undefined
  /** What each execution begins with: a schedule, or `TRACE` or `TRACE:STEP`. */
  readonly from?: string | readonly string[] | undefined
  /** Directory for traces; `.lastnail` by default. */
  readonly out?: string | undefined
  /** Ends the check, which then says what was found so far. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export interface Checked {
  readonly verdict: Verdict
  /** Path of the trace of the violating or suspected execution. */
  readonly trace: string | null
  /** Where that execution ended. */
  readonly state: GlobalState | undefined
}

export const defaultMs = 60_000
export const defaultOut = '.lastnail'

/** Explores the system of a configuration; a violating execution is executed once more and recorded. */
export const checkConfig = (config: LoadedConfig, options: CheckOptions): Promise<Checked> =>
  inSession(config, options, async session => {
    const { cluster, system, seed, signal } = session
    const { from, out: _, ...others } = options
    const verdict = await check(cluster, system.properties, {
      ...others,
      seed,
      signal,
      milliseconds: timeOf(options),
      weights: system.weights,
      from: typeof from === 'string' ? scheduleFrom(from) : from,
    })
    return recordFound(session, verdict, options)
  })

/** Time for the search; `undefined` where executions alone limit it. */
export const timeOf = ({ milliseconds, executions }: CheckOptions): number | undefined =>
  milliseconds ?? (executions === undefined ? defaultMs : undefined)

const recordFound = async (session: Session, verdict: Verdict, options: CheckOptions): Promise<Checked> => {
  if (verdict.schedule.length === 0 && verdict.verdict !== 'violated') return { verdict, trace: null, state: undefined }
  const { signal: _, onProgress: __, ...recorded } = options
  const trace = join(resolve(options.out ?? defaultOut), traceName(session, verdict))
  const { diverged } = await record(session, trace, verdict.schedule, { options: recorded, verdict })
  const state = session.cluster.state()
  if (!diverged) return { verdict, trace, state }
  const message = `${verdict.message}; executed once more, to be recorded, it ${diverged.message}`
  return { verdict: { ...verdict, verdict: 'undetermined', repeated: false, message }, trace, state }
}

const traceName = ({ system }: Session, { property, kind }: Verdict) => `${system.name}-${property ?? kind}.trace`
