import { UsageError } from '../checker/errors.ts'
import { replay } from '../checker/replay.ts'
import { readTrace } from '../checker/trace/read.ts'
import type { Trace } from '../checker/trace/trace.ts'
import type { Verdict } from '../checker/verdict.ts'
import type { GlobalState } from '../harness/config.ts'
import { compareWith } from './comparison.ts'
import { type LoadedConfig, loadConfig } from './load-config.ts'
import { labelsOf, upTo } from './recorded.ts'
import { inSession } from './session.ts'
import { StepReader } from './step-reader.ts'

/** What became of a trace that was executed again, as `--json` prints it. */
export interface Replayed extends Pick<Verdict, 'verdict' | 'property' | 'kind' | 'steps' | 'seed' | 'schedule'> {
  readonly trace: string
  /** One line. */
  readonly message: string
}

/**
 * Executes a trace again, up to a step.
 *
 * @throws Diverged where the system offers other choices than it recorded
 * @throws Differs where it does something else than it recorded
 */
export const replayTrace = async (path: string, to?: number): Promise<Replayed & { readonly state: GlobalState }> => {
  const trace = readTrace(path)
  const labels = upTo(labelsOf(trace), to, path)
  const config = await configOfTrace(path, trace)
  const { seed } = trace.header
  return inSession(config, { seed }, async ({ cluster, system }) => {
    const reader = new StepReader(cluster, system.properties)
    const replayed = await replay(cluster, system.properties, labels, compareWith(trace.steps, reader))
    if (replayed.diverged) throw replayed.diverged
    const { steps, violation } = replayed
    const found = violation
      ? ({ ...violation, verdict: 'violated', property: violation.property ?? null } as const)
      : concluded(trace, labels)
    const { verdict, property, kind, message } = found
    return { verdict, property, kind, steps, seed, trace: path, schedule: labels, message, state: cluster.state() }
  })
}

/** The configuration that a trace was recorded of, as it is now. */
export const configOfTrace = async (path: string, { header }: Trace): Promise<LoadedConfig> => {
  if ((header.options as { live?: boolean } | undefined)?.live)
    throw new UsageError(`${path} is of a live run: it can be looked at, and not executed again`)
  if (header.config.path === '')
    throw new UsageError(`${path} was recorded of a definition in a program: only that program can execute it again`)
  const config = await loadConfig(header.config.path)
  if (config.sha256 !== header.config.sha256)
    process.stderr.write(`lastnail: ${config.path} has changed since ${path} was recorded\n`)
  return config
}

/** What can be said of an execution that went as recorded and broke nothing on its way. */
const concluded = (trace: Trace, labels: readonly string[]) => {
  const recorded = trace.end?.verdict as Verdict | undefined
  const asRecorded = `executed ${labels.length} steps, all as recorded`
  if (labels.length < labelsOf(trace).length || recorded?.kind !== 'liveness')
    return { verdict: 'held', property: null, kind: null, message: `${asRecorded}; no violation` } as const
  // That a state is dead was shown by walks from it: the same state, reached the same way, is as dead as it was.
  const { verdict, property, kind, message } = recorded
  return { verdict, property, kind, message: `${asRecorded}: ${message}` }
}
