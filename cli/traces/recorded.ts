import type { Schedule } from '../../campaign/schedules/schedule.ts'
import { recorded } from '../../checker/happening/happenings.ts'
import { counted } from '../../checker/system/brief.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { clocksStartOf, clocksStartUnsaid, hadLongTurns, scheduleOf } from '../../checker/trace/again.ts'
import { readWay } from '../../checker/trace/read.ts'
import type { Trace } from '../../checker/trace/trace.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import type { Timing } from '../../harness/timed/timing.ts'
import type { SessionOptions } from '../session/session.ts'

/**
 * The schedule that `TRACE` or `TRACE:STEP` names. A torn trace is used as far as it goes.
 *
 * @throws UsageError for a trace that cannot be executed
 */
export const scheduleFrom = (text: string): string[] => {
  const { path, step } = traceAndStep(text)
  const way = readWay(path, step)
  requireExecutable(path, way)
  return upTo(scheduleOf(way), step, path)
}

/** @throws UsageError for a trace that cannot be executed */
export const requireExecutable = (path: string, { header }: Pick<Trace, 'header'>): void => {
  if ((header.options as { pace?: string } | undefined)?.pace === 'native')
    throw new UsageError(`${path} is of a run at the pace native: it can be looked at, and not executed again`)
}

export const traceAndStep = (text: string): { path: string; step: number | undefined } => {
  const [, path, step] = /^(.*?)(?::(\d+))?$/s.exec(text)!
  return { path: path!, step: step === undefined ? undefined : Number(step) }
}

/** The parts of a trace that are needed to execute it again. */
type Way = ReturnType<typeof readWay>

/**
 * The timing of a recorded emulated run; undefined for any other trace.
 *
 * @param times `kept`: each step is executed at its recorded time. `moving`: each when it is due, which fits if some
 * steps are left out
 */
export const recordedTiming = ({ header, steps }: Way, times: 'kept' | 'moving'): Timing | undefined => {
  const { timing } = (header.options ?? {}) as { readonly timing?: Timing }
  if (timing === undefined) return undefined
  const inputs = steps.flatMap(({ input }) =>
    input === undefined ? [] : [recorded(input as Timing['inputs'][number])],
  )
  return { ...timing, inputs, timesMs: times === 'kept' ? steps.map(({ atMs = 0 }) => atMs) : undefined }
}

/** How nodes are held so that a recorded execution repeats. */
export type Held = Pick<SessionOptions, 'seed' | 'timing' | 'longTurns' | 'clocksStart'>

/** How the nodes of a recorded execution are held when it is executed again. */
export const sessionOf = (way: Way, times: 'kept' | 'moving'): Held => ({
  seed: way.header.seed,
  clocksStart: clocksStartOf(way),
  timing: recordedTiming(way, times),
  longTurns: hadLongTurns(way),
})

/** The same for `TRACE` or `TRACE:STEP`, for a search that begins there. */
export const sessionFrom = (text: string): Held => {
  const { path, step } = traceAndStep(text)
  const { timing, ...others } = sessionOf(readWay(path, step), 'kept')
  return { ...others, timing: timing && { ...timing, isSearched: true } }
}

/**
 * The same for a schedule to keep. At the pace virtual, times follow from the run itself, so they are right even if a
 * later build does something in between.
 */
export const timingToKeep = (trace: Trace): Timing | undefined => {
  const timing = recordedTiming(trace, 'kept')
  return timing?.pace === 'virtual' ? { ...timing, timesMs: undefined } : timing
}

/** How nodes are held while a kept schedule is executed. */
export const sessionKept = ({
  seed,
  variant,
  timing,
  longTurns,
  clocksStart = clocksStartUnsaid,
}: HeldInFile): Held => ({
  seed: seed + variant,
  clocksStart,
  timing: timing === undefined ? undefined : timingKept(JSON.parse(timing) as Timing),
  longTurns,
})

const timingKept = (timing: Timing): Timing => ({ ...timing, inputs: timing.inputs.map(recorded) })

type HeldInFile = Pick<Schedule, 'seed' | 'variant' | 'timing' | 'longTurns' | 'clocksStart'>

/** The first `step` labels, or all without a step. @throws UsageError if there are fewer */
export const upTo = (labels: readonly string[], step: number | undefined, path: string): string[] => {
  if (step !== undefined && step > labels.length)
    throw new UsageError(`${path} has ${counted(labels.length, 'step')}, so it has no step ${step}`)
  return labels.slice(0, step)
}

/** A verdict that names a violation. */
export type ViolatedVerdict = Verdict & { readonly kind: NonNullable<Verdict['kind']> }

/** The verdict at the end of a trace, if it is a violation. */
export const violationOf = ({ end }: Trace): ViolatedVerdict | undefined => {
  const verdict = end?.verdict as ViolatedVerdict | null | undefined
  return verdict?.verdict === 'violated' ? { ...unsearched, ...verdict } : undefined
}

/** Fields of a verdict that only a search can fill. An emulated run, and steps tried by hand, record none. */
export const unsearched: Omit<Partial<Verdict>, 'coverage'> & { readonly coverage: object } = {
  variant: 0,
  spent: { search: 0, goal: 0, examination: 0, audit: 0 },
  criticalTransition: null,
  delayMs: null,
  skewMs: null,
  discovery: null,
  closestLive: null,
  notRepeated: [],
  unsteady: null,
  notes: [],
  coverage: {},
}
