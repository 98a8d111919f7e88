import { setImmediate as nextTurn } from 'node:timers/promises'
import { replay } from '../../checker/cells/replay.ts'
import { headline } from '../../checker/cells/violation.ts'
import { counted } from '../../checker/system/brief.ts'
import { BudgetSpent } from '../../checker/system/budget.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { inSeconds } from '../../checker/system/show.ts'
import { scheduleOf } from '../../checker/trace/again.ts'
import { TraceError } from '../../checker/trace/error.ts'
import { describeTear, readTrace, traceRecords } from '../../checker/trace/read.ts'
import type { RecordedNode, TraceHeader } from '../../checker/trace/trace.ts'
import { type ResolvedSystem, resolveSystem } from '../../harness/config/config.ts'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { hashOfRun } from '../config/programs.ts'
import { distributionOf, type Quantiles } from '../emulate/summary.ts'
import { amongGuests } from '../session/among-guests.ts'
import { inSession } from '../session/session.ts'
import { requireExecutable, sessionOf } from '../traces/recorded.ts'
import { StepReader } from '../traces/step-reader.ts'
import { Verification, type VerifiedProperty } from './verification.ts'

/** The result of verifying properties over a recorded execution, as `--json` prints it. */
export interface Verified extends Pick<Verification, 'violations' | 'evaluations' | 'steps'> {
  /** Undetermined: an `eventually` property did not hold at the end, a property could not be decided, or no state was seen. */
  readonly verdict: 'violated' | 'held' | 'undetermined'
  readonly seconds: number
  readonly properties: readonly (VerifiedProperty & {
    /** Milliseconds from when it stopped holding until it held again. */
    readonly again: Quantiles | undefined
  })[]
  readonly notes: readonly string[]
}

export interface VerifyOptions {
  /** Overrides the configuration that the trace names. */
  readonly config?: string | undefined
  /** Whether the trace is executed again, for states that a changed observer sees. */
  readonly isExecuted?: boolean | undefined
}

/**
 * Evaluates a configuration's present properties over a recorded execution.
 *
 * @throws TraceError if the trace cannot be read to its end
 *
 * @throws UsageError if the configuration does not fit the trace
 *
 * @throws Diverged if it is executed and takes another course
 */
export const verifyTrace = async (path: string, { config, isExecuted }: VerifyOptions = {}): Promise<Verified> => {
  const header = headerIn(path)
  const loaded = await loadConfig(config ?? configIn(path, header))
  const system = resolveSystem(loaded.definition, { directory: loaded.directory })
  requireFit(path, header, system)
  const begun = performance.now()
  const verification = new Verification(system)
  if (isExecuted) await execute(path, loaded, verification)
  else await amongGuests(signal => readThrough(path, verification, signal))
  return verifiedOf(verification, (performance.now() - begun) / 1000)
}

const headerIn = (path: string): TraceHeader => {
  for (const record of traceRecords(path)) {
    if ('header' in record) return record.header
    if ('torn' in record) throw new TraceError('torn', describeTear(path, record.torn))
  }
  throw new TraceError('damaged', `the trace ${path} has no header`)
}

const configIn = (path: string, { config }: TraceHeader): string => {
  if (config.path !== '') return config.path
  throw new UsageError(`${path} was recorded of a definition in a program: expected a configuration beside it`)
}

/** Number of steps between checks for signals. */
const turnSteps = 256

const readThrough = async (path: string, verification: Verification, signal: AbortSignal): Promise<void> => {
  for (const record of traceRecords(path)) {
    if ('torn' in record) throw new TraceError('torn', describeTear(path, record.torn))
    if (!('step' in record)) continue
    const { step } = record
    verification.see(step)
    if (step.index % turnSteps === 0) await nextTurn()
    if (signal.aborted) throw new BudgetSpent('aborted')
  }
}

const execute = async (path: string, config: LoadedConfig, verification: Verification): Promise<void> => {
  const trace = readTrace(path)
  requireExecutable(path, trace)
  await inSession(config, sessionOf(trace, 'kept'), async ({ cluster }) => {
    const observer = new StepReader(cluster, {}).observer(step => verification.see(step))
    const { diverged } = await replay(cluster, {}, scheduleOf(trace), { observer })
    if (diverged) throw diverged
  })
}

/** @throws UsageError with one line for the first thing that changed */
const requireFit = (path: string, { nodes }: TraceHeader, system: ResolvedSystem): void => {
  const [recorded, now] = [nodes, system.nodes].map(all => all.map(({ name }) => name).join(', '))
  if (recorded !== now)
    throw new UsageError(`${path} was recorded with other nodes: ${recorded}; the configuration has ${now}`)
  for (const [index, node] of nodes.entries()) requireSameProgram(path, node, system.nodes[index]!)
}

const requireSameProgram = (path: string, was: RecordedNode, is: ResolvedSystem['nodes'][number]): void => {
  const [before, now] = [was, is].map(({ command, image }) => JSON.stringify([image ?? '', ...command]))
  if (before !== now)
    throw new UsageError(`${path} was recorded with other programs: the command of ${was.name} has changed`)
  if (was.program !== '' && was.program !== hashOfRun(is))
    throw new UsageError(
      `${path} was recorded with another build: what ${was.name} runs (${is.command[0]}) has changed since`,
    )
}

const verifiedOf = (verification: Verification, seconds: number): Verified => {
  const { violations, evaluations, steps, from, properties, undecided, unbounded, nothingSeen } = verification
  const isOut = properties.some(({ kind, holds }) => kind === 'eventually' && holds === false)
  const isOpen = isOut || undecided.size > 0 || nothingSeen !== undefined
  const verdict = violations.length > 0 ? 'violated' : isOpen ? 'undetermined' : 'held'
  return {
    ...{ verdict, violations, evaluations, seconds, steps },
    properties: properties.map(property => ({ ...property, again: distributionOf(againOf(property)) })),
    notes: [
      ...(from > 0 ? [`properties were evaluated from step ${from} on: of earlier steps only an outline is kept`] : []),
      ...(nothingSeen === undefined ? [] : [nothingSeen]),
      ...undecided.values(),
      ...unbounded,
      ...properties.filter(isUnmet).map(({ name }) => `${name} was met in no state`),
    ],
  }
}

const isUnmet = ({ kind, holds }: VerifiedProperty) => kind === 'sometimes' && holds === false

const againOf = ({ outages }: VerifiedProperty): number[] =>
  outages.flatMap(({ fromMs, untilMs }) => (fromMs === null || untilMs === null ? [] : [untilMs - fromMs]))

export const describeVerified = (verified: Verified): string[] => [
  verified.verdict,
  ...verified.violations.flatMap(({ message, atMs, state }) => [
    `${headline(message)}${atMs === null ? '' : `, at ${inSeconds(atMs)}`}`,
    ...message.split('\n').slice(1),
    ...Object.entries(state).map(
      ([name, seen]) => `  ${name}: ${seen === null ? 'nothing seen' : JSON.stringify(seen)}`,
    ),
  ]),
  ...verified.properties.filter(({ kind }) => kind === 'eventually').map(describeLiveness),
  ...verified.notes,
  `${counted(verified.steps, 'step')}, ${counted(verified.evaluations, 'evaluation')} in ${verified.seconds.toFixed(2)} s`,
]

const describeLiveness = ({ name, outages, again, holds }: Verified['properties'][number]): string => {
  if (outages.length === 0) return `${name}: held in every state`
  const last = outages.at(-1)!
  const longest =
    again === undefined ? '' : `, ${inSeconds(again.p50)} in the median and ${inSeconds(again.max)} at most`
  const times = `${name}: did not hold ${outages.length} ${outages.length === 1 ? 'time' : 'times'}${longest}`
  if (holds !== false) return times
  const since = last.fromMs === null ? '' : `, at ${inSeconds(last.fromMs)}`
  return `${times}; not any more from step ${last.fromStep}${since}: it may yet have`
}
