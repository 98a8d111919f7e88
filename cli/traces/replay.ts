import { replay } from '../../checker/cells/replay.ts'
import { select } from '../../checker/cells/select.ts'
import { headline } from '../../checker/cells/violation.ts'
import { counted } from '../../checker/system/brief.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { scheduleOf } from '../../checker/trace/again.ts'
import { readTrace } from '../../checker/trace/read.ts'
import type { Trace } from '../../checker/trace/trace.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import type { GlobalState } from '../../harness/config/config.ts'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { inSession, type Session } from '../session/session.ts'
import { compareWith } from './comparison.ts'
import { lookForLifeAfter } from './confirm.ts'
import { requireExecutable, sessionOf, upTo, violationOf } from './recorded.ts'
import { StepReader } from './step-reader.ts'

/** The result of executing a trace again, as `--json` prints it. */
export interface Replayed extends Pick<Verdict, 'verdict' | 'property' | 'kind' | 'steps' | 'seed' | 'schedule'> {
  readonly trace: string
  /** Fresh walks from its end that looked for a live state; 0 if none were needed. */
  readonly walks: number
  /** One line. */
  readonly message: string
}

/**
 * Executes a trace again, up to a step.
 *
 * @throws Diverged if the system enables other choices than recorded
 *
 * @throws Differs if a step has another result than recorded
 */
export const replayTrace = async (path: string, to?: number): Promise<Replayed & { readonly state: GlobalState }> => {
  const trace = readTrace(path)
  const labels = upTo(scheduleOf(trace), to, path)
  const config = await configOfTrace(path, trace)
  return inSession(config, sessionOf(trace, 'kept'), async session => {
    const { cluster, system, seed } = session
    const observer = compareWith(trace.steps, new StepReader(cluster, system.properties))
    // What else was violated or crashed before is not what the trace was recorded for.
    const property = violationOf(trace)?.property ?? undefined
    const allowFindings = property !== undefined
    const replayed = await replay(cluster, select(system.properties, property), labels, { observer, allowFindings })
    if (replayed.diverged) throw replayed.diverged
    const { steps, violation } = replayed
    const state = cluster.state()
    const {
      verdict,
      property: violated,
      kind,
      message,
      walks,
    } = violation
      ? ({ ...violation, verdict: 'violated', property: violation.property ?? null, walks: 0 } as const)
      : await conclude(session, trace, labels)
    return { verdict, property: violated, kind, steps, seed, trace: path, schedule: labels, walks, message, state }
  })
}

/** The present configuration of a trace's system. */
export const configOfTrace = async (path: string, trace: Trace): Promise<LoadedConfig> => {
  const { header } = trace
  requireExecutable(path, trace)
  if (header.config.path === '')
    throw new UsageError(`${path} was recorded of a definition in a program: only that program can execute it again`)
  const config = await loadConfig(header.config.path)
  if (config.sha256 !== header.config.sha256)
    process.stderr.write(`lastnail: ${config.path} has changed since ${path} was recorded\n`)
  return config
}

/** The verdict on an execution that went as recorded without a violation. */
const conclude = async (
  session: Session,
  trace: Trace,
  labels: readonly string[],
): Promise<Pick<Replayed, 'verdict' | 'property' | 'kind' | 'walks' | 'message'>> => {
  const recorded = trace.end?.verdict as Verdict | undefined
  const asRecorded = `executed ${counted(labels.length, 'step')}, all as recorded`
  if (recorded?.kind !== 'liveness' || recorded.verdict !== 'violated')
    return { ...nothing, message: `${asRecorded}; no violation${unsaid(recorded)}` }
  const { property } = recorded
  if (labels.length < scheduleOf(trace).length)
    return { ...nothing, message: `${asRecorded}; whether ${property} can hold again was not looked at before the end` }
  const { isDead, walks, what } = await lookForLifeAfter(session, { ...recorded, schedule: labels })
  const message = `${asRecorded}; then it ${what}`
  if (!isDead) return { ...nothing, walks, message: `${message}: ${property} can hold again` }
  return {
    verdict: 'violated',
    property,
    kind: 'liveness',
    walks,
    message: `${message}: ${property} does not hold again`,
  }
}

const nothing = { verdict: 'held', property: null, kind: null, walks: 0 } as const

/** A recorded verdict of `undetermined` is mentioned, because this execution did not settle it. */
const unsaid = (recorded: Verdict | undefined): string =>
  recorded?.verdict === 'undetermined' ? `; what was recorded of it is undetermined: ${headline(recorded.message)}` : ''
