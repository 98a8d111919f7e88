import type { RecordedStep, Trace } from './trace.ts'

/** The schedule of a recorded execution. */
export const scheduleOf = ({ steps }: { readonly steps: readonly Pick<RecordedStep, 'choice'>[] }): string[] =>
  steps.flatMap(({ choice }) => choice?.label ?? [])

/** Whether it was recorded after a thread's turns had been lengthened. */
export const hadLongTurns = ({ header }: Pick<Trace, 'header'>): boolean =>
  ((header.options ?? {}) as { readonly longTurns?: boolean }).longTurns === true

/** What nodes' clocks showed first while traces and schedules did not say it. */
export const clocksStartUnsaid = '2026-01-01T00:00:00Z'

/** What nodes' clocks showed first. */
export const clocksStartOf = ({ header }: Pick<Trace, 'header'>): string => header.clocksStart || clocksStartUnsaid

/** Whether it was recorded of an emulated run, whose steps have times. */
export const hadTimes = ({ header }: Pick<Trace, 'header'>): boolean =>
  ((header.options ?? {}) as { readonly timing?: unknown }).timing !== undefined
