import { sentenceOf } from '../../checker/happening/happenings.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { inSeconds } from '../../checker/system/show.ts'
import { readTrace } from '../../checker/trace/read.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import type { Filter } from '../../harness/steering/filters.ts'
import { type FatalStep, Guard } from '../../harness/steering/guard.ts'
import type { ImmediateCheckListener, ImmediateCheckOptions } from '../../harness/steering/immediate-check.ts'
import type { OnSteered } from '../../harness/steering/steering.ts'
import { crash } from '../../harness/steering/violated.ts'
import { violationOf } from '../traces/recorded.ts'
import type { RunOptions } from './settings.ts'

/** Says on stderr what steering does, one line each. */
const sayInterventions: ImmediateCheckListener = {
  onPrevented({ property, label, atMs }, action) {
    const what = property === crash ? 'a program would fail' : `${property} would not hold`
    process.stderr.write(`lastnail: at ${inSeconds(atMs)}, ${what} after ${label}: ${sentenceOf(action)}\n`)
  },
  onMissed({ property, label, atMs }) {
    const what = property === crash ? 'a program fails' : `${property} does not hold`
    process.stderr.write(`lastnail: at ${inSeconds(atMs)}, ${what} after ${label}: missed\n`)
  },
}

/** The same of what is done because of predictions. */
export const saySteered: OnSteered = ({ against }, action, { label, atMs }) => {
  process.stderr.write(
    `lastnail: at ${inSeconds(atMs)}, ${against} is predicted behind ${label}: ${sentenceOf(action)}\n`,
  )
}

/** Says that something is not prevented any more. */
export const sayGivenUp = ({ against, label }: Filter): void => {
  process.stderr.write(
    `lastnail: ${against} is predicted behind ${label} again, which is not kept from happening for a fourth time running: a node would starve\n`,
  )
}

/**
 * The immediate check of each step, if the run is steered by it.
 *
 * @throws UsageError for a trace of which nothing can be guarded
 */
export const immediateCheckOf = (
  { properties, faults: { reset, crash } }: ResolvedSystem,
  { steer, guard: traces }: RunOptions,
): ImmediateCheckOptions | undefined => {
  const guard = traces && guardOf(traces, properties)
  if (guard === undefined && steer !== 'check' && steer !== 'both') return undefined
  // A guarded service has users: it only refuses what is fatal.
  return { listener: sayInterventions, guard, mayReboot: guard === undefined && reset + crash > 0 }
}

/** Steps are taken back, which needs nodes that are held. */
export const takesBack = (pace: string): UsageError =>
  new UsageError(`--steer and --guard take steps back, which at the pace ${pace} is not possible`)

/** The guard against the bugs of these traces. */
const guardOf = (paths: readonly string[], properties: ResolvedSystem['properties']): Guard =>
  new Guard(paths.map(path => fatalStepOf(path, properties)))

const fatalStepOf = (path: string, properties: ResolvedSystem['properties']): FatalStep => {
  const trace = readTrace(path)
  const violation = violationOf(trace)
  const property = violation?.kind === 'crash' ? crash : violation?.property
  if (violation === undefined || property == null)
    throw new UsageError(`${path}: expected the trace of a violated property, or of a crash`)
  if (property !== crash && (violation.kind !== 'safety' || properties[property]?.kind !== 'always'))
    throw new UsageError(`${path}: a step can be judged only by an always property, ${property} is none`)
  const isFatal = (step: RecordedStep) => (property === crash ? step === trace.steps.at(-1) : isFalse(step, property))
  const label = trace.steps.find(isFatal)?.choice?.label
  const what = property === crash ? 'a program fails' : `${property} does not hold`
  if (label === undefined) throw new UsageError(`${path}: ${what} at the start`)
  if (!Guard.canGuard({ property, label }))
    throw new UsageError(`${path}: nothing can be done in place of its fatal step, ${label}`)
  return { property, label }
}

const isFalse = ({ properties }: RecordedStep, property: string): boolean =>
  properties.some(({ name, holds }) => name === property && !holds)
