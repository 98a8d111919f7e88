import type { Run } from '../../harness/emulation/run.ts'
import { element, escapeXml } from '../../topologies/xml.ts'

const width = 720
const height = 160
const left = 64
const bottom = 36
const top = 34
const plotWidth = width - left - 16
const plotHeight = height - top - bottom

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
    panel(title, values, seconds, 's')
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
  const content = [
    element('title', {}, escapeXml(name)),
    element('rect', { width, height: height * panels.length, fill: '#fff' }),
    ...panels.map((inner, index) => element('g', { transform: `translate(0 ${index * height})` }, inner)),
  ]
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height * panels.length}`,
    role: 'img',
  }
  return `${element('svg', { ...attributes, 'font-family': 'sans-serif', 'font-size': 12 }, content)}\n`
}

/** A cumulative distribution: the share of values up to each value. */
const distribution = (title: string, milliseconds: readonly number[]): string[][] => {
  if (milliseconds.length === 0) return []
  const sorted = milliseconds.toSorted((one, other) => one - other)
  const points = sorted.map((each, index) => [each / 1000, (100 * (index + 1)) / sorted.length] as const)
  return [panel(`${title}: per cent that took no longer (${sorted.length})`, points, sorted.at(-1)! / 1000, 's')]
}

/** A step plot. */
const panel = (
  title: string,
  points: readonly (readonly [x: number, y: number])[],
  xMost: number,
  unit: string,
): string[] => {
  const yMost = Math.max(1, ...points.map(([, y]) => y))
  const at = (x: number, y: number) =>
    [left + (x / (xMost || 1)) * plotWidth, top + (1 - y / yMost) * plotHeight].map(value => value.toFixed(1)) as [
      string,
      string,
    ]
  const [x0, y0] = at(0, 0)
  const line = points
    .map(([x, y]) => at(x, y))
    .map(([x, y]) => `H${x}V${y}`)
    .join('')
  const label = (x: number, y: number, anchor: string, content: string) =>
    element('text', { x, y, 'text-anchor': anchor, fill: '#222' }, escapeXml(content))
  return [
    label(left, top - 12, 'start', title),
    element('path', { d: `M${x0} ${top}V${y0}H${left + plotWidth}`, fill: 'none', stroke: '#888' }),
    label(left - 6, top + 10, 'end', shortly(yMost)),
    label(left - 6, top + plotHeight, 'end', '0'),
    label(left, top + plotHeight + 16, 'start', '0'),
    label(left + plotWidth, top + plotHeight + 16, 'end', `${shortly(xMost)} ${unit}`),
    ...(points.length === 0
      ? []
      : [element('path', { d: `M${x0} ${y0}${line}`, fill: 'none', stroke: '#0072b2', 'stroke-width': 1.5 })]),
  ]
}

const shortly = (value: number) => String(Number(value.toPrecision(3)))
