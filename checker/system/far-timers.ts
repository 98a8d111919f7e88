import { roleOf } from '../happening/kinds.ts'
import { readLabel } from './labels.ts'
import type { Choice } from './system.ts'

/** A shorter wait is not far, however short the others are: services wait for hours. */
const farMsMin = 24 * 3600 * 1000
/** By how much a far timer is longer than all others. With a smaller ratio, the daily work of an hourly system would be far. */
const ratio = 100

/**
 * Milliseconds from which timers are far beyond all others of a system: at least a day, and a hundred times as long as
 * any timer that is due within a day. Mostly they are time-outs that a library sets for what never happens.
 */
const farFrom = (allMs: readonly number[]): number => {
  const nearMs = allMs.filter(ms => ms < farMsMin)
  return Math.max(farMsMin, ...nearMs.map(ms => ms * ratio))
}

const timersIn = (choice: Choice): readonly Choice[] =>
  (choice.joins ?? [choice]).filter(({ kind }) => kind === 'timer')

/** The longest wait that a choice ends, in milliseconds; 0 if it fires no timer. */
const waitedMs = (choice: Choice): number => Math.max(0, ...timersIn(choice).map(({ afterMs = 0 }) => afterMs))

/** The enabled choices without far timers. The same list if there are none, and if only faults would be left. */
export const withoutFarTimers = (enabled: readonly Choice[]): readonly Choice[] => {
  if (!enabled.some(choice => waitedMs(choice) >= farMsMin)) return enabled
  const from = farFrom(enabled.map(waitedMs))
  const near = enabled.filter(choice => waitedMs(choice) < from)
  return near.some(goesOn) ? near : enabled
}

/** Whether a system does it without faults. */
const goesOn = ({ kind }: Choice): boolean => roleOf(kind) !== 'fault' && roleOf(kind) !== 'change'

/** The far timers that a schedule fires, as people say it: `a timer of 11.6 days of n1`. */
export const farTimersIn = (labels: readonly string[]): string[] => {
  const fired = labels.flatMap(label => {
    const read = readLabel(label)
    return (read.joins ?? [read]).flatMap(({ kind, node, numbers: [ms = 0] }) =>
      kind === 'timer' ? [{ node, ms }] : [],
    )
  })
  const from = farFrom(fired.map(({ ms }) => ms))
  const far = fired.filter(({ ms }) => ms >= from).map(({ node, ms }) => `a timer of ${inDays(ms)} of ${node}`)
  return [...new Set(far)]
}

const inDays = (ms: number): string => `${Number((ms / farMsMin).toFixed(1))} days`
