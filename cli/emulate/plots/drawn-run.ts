import type { Run } from '../../../harness/emulation/run.ts'
import { cumulative, panel, picture } from './panel.ts'

/**
 * Plots of an emulated run, what was seen over time and the distributions of its times, as one SVG file that needs
 * nothing else.
 */
export const drawRun = (
  { measurements, timed }: Pick<Run, 'measurements' | 'timed'>,
  name: string,
  seconds: number,
): string => {
  const { looks, joinTimes, recoveries } = measurements
  const timeline = (title: string, values: readonly (readonly [atMs: number, value: number])[]) =>
    panel(title, [{ points: values }], seconds, 's')
  const panels = [
    timeline(
      'nodes that are up',
      looks.map(({ atMs, alive }) => [atMs / 1000, alive]),
    ),
    timeline(
      'properties that do not hold',
      looks.map(({ atMs, without }) => [atMs / 1000, without]),
    ),
    ...distribution('seconds to join', joinTimes),
    ...distribution(
      'seconds to recover after a fault',
      recoveries.flatMap(({ tookMs }) => tookMs || []),
    ),
    ...distribution(
      'seconds of a call',
      timed.filter(({ isOk }) => isOk).map(({ tookMs }) => tookMs),
    ),
  ]
  return picture(name, panels)
}

/** A cumulative distribution: the share of values up to each value. */
const distribution = (of: string, milliseconds: readonly number[]): string[][] => {
  if (milliseconds.length === 0) return []
  const points = cumulative(milliseconds.map(ms => ms / 1000))
  const title = `${of}: per cent that took no longer (${points.length})`
  return [panel(title, [{ points }], points.at(-1)![0], 's')]
}
