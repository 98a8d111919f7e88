import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { check, type Search } from '../checker/check.ts'
import { replay } from '../checker/replay.ts'
import { readTrace } from '../checker/trace/read.ts'
import type { Verdict } from '../checker/verdict.ts'
import { showProgress } from './progress.ts'
import { headerOf, Recorder } from './recorder.ts'
import { inSession, type Session } from './session.ts'

export interface CheckArguments {
  readonly search: Search
  readonly forMs: number | undefined
  readonly executions: number | undefined
  readonly depth: number | undefined
  readonly walkLength: number | undefined
  readonly seed: number
  readonly property: string | undefined
  /** `TRACE` or `TRACE:STEP`. */
  readonly from: string | undefined
  readonly out: string
}

/** What `check` prints: the verdict, and the trace of the violating execution. */
export type Outcome = Verdict & { readonly trace: string | null }

const defaultMs = 60_000

/** Explores the system of a configuration; a violating execution is executed once more and recorded. */
export const runCheck = (file: string, args: CheckArguments): Promise<Outcome> =>
  inSession(file, args.seed, async session => {
    const { cluster, system, signal } = session
    const hasBudget = args.forMs !== undefined || args.executions !== undefined
    const milliseconds = args.forMs ?? (hasBudget ? undefined : defaultMs)
    const progress = showProgress(milliseconds)
    try {
      const verdict = await check(cluster, system.properties, {
        ...args,
        milliseconds,
        weights: system.weights,
        from: args.from === undefined ? undefined : prefixOf(args.from),
        signal,
        onProgress: progress.update,
      })
      return await record(session, verdict, args)
    } finally {
      progress.end()
    }
  })

/** The schedule of a trace up to a step: `run.trace:12`. */
const prefixOf = (from: string): string[] => {
  const [, path, step] = /^(.*?)(?::(\d+))?$/s.exec(from)!
  const labels = readTrace(path!, { torn: 'accept' }).steps.flatMap(({ choice }) => choice?.label ?? [])
  return step === undefined ? labels : labels.slice(0, Number(step))
}

const record = async (session: Session, verdict: Verdict, args: CheckArguments): Promise<Outcome> => {
  if (verdict.schedule.length === 0 && verdict.verdict !== 'violated') return { ...verdict, trace: null }
  const { cluster, config, system } = session
  const directory = resolve(args.out)
  mkdirSync(directory, { recursive: true })
  const trace = join(directory, `${system.name}-${verdict.property ?? verdict.kind}.trace`)
  const recorder = new Recorder(trace, headerOf(config, system, args.seed, args), cluster, system.properties)
  await replay(cluster, system.properties, verdict.schedule, recorder)
  const outcome = { ...verdict, trace }
  recorder.end(outcome)
  return outcome
}
