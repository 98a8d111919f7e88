import type { Run } from '../../../harness/emulation/run.ts'
import type { Loads } from '../../../harness/timed/loads.ts'
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
    ...busiest(measurements.loads, seconds),
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

/** How many links are drawn: more lines could not be told apart. */
const linksMax = 6

/** The links that carried most, in each look as much as since the look before it. */
const busiest = ({ all, looksMs }: Loads, seconds: number): string[][] => {
  const limited = all.filter(({ load }) => load !== null)
  const bytesOf = new Map<string, number>()
  for (const { from, to, bytes } of limited) bytesOf.set(`${from}→${to}`, (bytesOf.get(`${from}→${to}`) ?? 0) + bytes)
  const names = [...bytesOf].sort(([, one], [, other]) => other - one).map(([name]) => name)
  const shown = names.slice(0, linksMax)
  if (shown.length === 0) return []
  const lines = shown.map(name => {
    const loads = new Map(
      limited.filter(({ from, to }) => `${from}→${to}` === name).map(({ atMs, load }) => [atMs, load!]),
    )
    return { points: looksMs.map(atMs => [atMs / 1000, 100 * (loads.get(atMs) ?? 0)] as const) }
  })
  const title = `load of the busiest links, per cent: ${shown.join(', ')}`
  return [panel(title, lines, seconds, 's')]
}

/** A cumulative distribution: the share of values up to each value. */
const distribution = (of: string, milliseconds: readonly number[]): string[][] => {
  if (milliseconds.length === 0) return []
  const points = cumulative(milliseconds.map(ms => ms / 1000))
  const title = `${of}: per cent that took no longer (${points.length})`
  return [panel(title, [{ points }], points.at(-1)![0], 's')]
}
