import { UsageError } from '../checker/errors.ts'
import { readTrace } from '../checker/trace/read.ts'
import type { RecordedStep, Trace } from '../checker/trace/trace.ts'
import type { Verdict } from '../checker/verdict/verdict.ts'
import type { Timing } from '../harness/timed/timing.ts'
import type { SessionOptions } from './session.ts'

/** The schedule of a recorded execution. */
export const scheduleOf = ({ steps }: { readonly steps: readonly RecordedStep[] }): string[] =>
  steps.flatMap(({ choice }) => choice?.label ?? [])

/** The schedule that `TRACE` or `TRACE:STEP` stands for; a torn trace serves as far as it goes. */
export const scheduleFrom = (text: string): string[] => {
  const { path, step } = partsOf(text)
  return upTo(scheduleOf(readTrace(path, { torn: 'accept' })), step, path)
}

/** The seed of the nodes' randomness in it. */
export const seedFrom = (text: string): number => readTrace(partsOf(text).path, { torn: 'accept' }).header.seed

export const partsOf = (text: string): { path: string; step: number | undefined } => {
  const [, path, step] = /^(.*?)(?::(\d+))?$/s.exec(text)!
  return { path: path!, step: step === undefined ? undefined : Number(step) }
}

/**
 * Why things happened when they did, in a recorded run that time went through; undefined for any other.
 *
 * @param times `kept`: each step is executed when it was. `moving`: when it is due, for where some steps are left out
 */
export const timingOf = ({ header, steps }: Trace, times: 'kept' | 'moving'): Timing | undefined => {
  const { timing } = (header.options ?? {}) as { readonly timing?: Timing }
  if (timing === undefined) return undefined
  const inputs = steps.flatMap(({ input }) => (input === undefined ? [] : [input as Timing['inputs'][number]]))
  return { ...timing, inputs, timesMs: times === 'kept' ? steps.map(({ atMs = 0 }) => atMs) : undefined }
}

/** How the nodes of a recorded execution are held when it is executed again. */
export const sessionOf = (
  trace: Trace,
  times: 'kept' | 'moving',
): Pick<SessionOptions, 'seed' | 'timing' | 'longTurns'> => {
  const { longTurns } = (trace.header.options ?? {}) as { readonly longTurns?: boolean }
  return { seed: trace.header.seed, timing: timingOf(trace, times), longTurns }
}

/** The same of what `TRACE` or `TRACE:STEP` stands for, for a search that begins there. */
export const timingFrom = (text: string): Timing | undefined => {
  const { path, step } = partsOf(text)
  const trace = readTrace(path, { torn: 'accept' })
  const steps = trace.steps.slice(0, step === undefined ? undefined : step + 1)
  const timing = timingOf({ ...trace, steps }, 'kept')
  return timing && { ...timing, isSearched: true }
}

/**
 * The same for a schedule that is kept: at the pace virtual, when a step is due is known without the trace, also where a later
 * build does something in between.
 */
export const timingToKeep = (trace: Trace): Timing | undefined => {
  const timing = timingOf(trace, 'kept')
  return timing?.pace === 'virtual' ? { ...timing, timesMs: undefined } : timing
}

/** Of a schedule that was kept. */
export const timingKept = ({ timing }: { readonly timing?: string | undefined }): Timing | undefined =>
  timing === undefined ? undefined : (JSON.parse(timing) as Timing)

/** The first `step` labels; all where there is no step. Throws a `UsageError` where there are not so many. */
export const upTo = (labels: readonly string[], step: number | undefined, path: string): string[] => {
  if (step !== undefined && step > labels.length)
    throw new UsageError(`${path} has ${labels.length} steps, so it has no step ${step}`)
  return labels.slice(0, step)
}

/** A verdict that names a violation. */
export type Violated = Verdict & { readonly kind: NonNullable<Verdict['kind']> }

/** The verdict that a trace ends with, where it is a violation. */
export const violationOf = ({ end }: Trace): Violated | undefined => {
  const verdict = end?.verdict as Violated | null | undefined
  return verdict?.verdict === 'violated' ? verdict : undefined
}
