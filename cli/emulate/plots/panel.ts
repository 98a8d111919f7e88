import { element, escapeXml } from '../../../topologies/xml.ts'

export const width = 720
export const height = 160
const left = 64
const bottom = 36
const top = 34
const plotWidth = width - left - 16
const plotHeight = height - top - bottom

export type PlotPoint = readonly [x: number, y: number]

/** A line of steps. */
export interface PlotLine {
  readonly points: readonly PlotPoint[]
  /** From the least to the largest value at each place, behind the line. */
  readonly band?: readonly (readonly [x: number, least: number, most: number])[]
}

/** Of lines beside each other (Okabe and Ito's, which colour-blind people can tell apart). */
export const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'] as const

export const colourOf = (index: number): string => colours[index % colours.length]!

/** A step plot of lines over one another, each of its colour. Sizes are in units of the picture. */
export const panel = (title: string, lines: readonly PlotLine[], xMost: number, unit: string): string[] => {
  const highest = lines.flatMap(({ points, band = [] }) => [...points.map(([, y]) => y), ...band.map(([, , y]) => y)])
  const yMost = highest.reduce((most, y) => Math.max(most, y), 1)
  const at = (x: number, y: number) => place(x / (xMost || 1), y / yMost)
  const [x0, y0] = at(0, 0)
  return [
    ...frame(title, inShort(yMost)),
    label(left + plotWidth, top + plotHeight + 16, 'end', `${inShort(xMost)} ${unit}`),
    ...lines.flatMap(({ points, band = [] }, index) => [
      ...(band.length === 0
        ? []
        : [element('path', { d: area(band, at), fill: colourOf(index), 'fill-opacity': 0.2, stroke: 'none' })]),
      ...(points.length === 0
        ? []
        : [
            element('path', {
              d: `M${x0} ${y0}${stepsOf(points, at)}`,
              fill: 'none',
              stroke: colourOf(index),
              'stroke-width': 1.5,
            }),
          ]),
    ]),
  ]
}

/** A value of each name, and how far values spread around it. */
export interface Spread {
  readonly name: string
  readonly mean: number
  readonly deviation: number
}

/** Points side by side, each with its standard deviation up and down. */
export const spreads = (title: string, values: readonly Spread[]): string[] => {
  const most = values.reduce((most, { mean, deviation }) => Math.max(most, mean + deviation), 0) || 1
  return [
    ...frame(title, inShort(most)),
    ...values.flatMap(({ name, mean, deviation }, index) => {
      const at = (y: number) => place((index + 0.5) / values.length, Math.max(0, y) / most)
      const [x, y] = at(mean)
      const [[, high], [, low]] = [at(mean + deviation), at(mean - deviation)]
      const colour = colourOf(index)
      return [
        element('path', {
          d: `M${x} ${low}V${high}M${+x - 5} ${low}h10M${+x - 5} ${high}h10`,
          fill: 'none',
          stroke: colour,
        }),
        element('circle', { cx: x, cy: y, r: 3.5, fill: colour }),
        label(Number(x), top + plotHeight + 16, 'middle', name),
      ]
    }),
  ]
}

/** Panels below each other as one SVG file that needs nothing else. */
export const picture = (name: string, panels: readonly (readonly string[])[]): string => {
  const whole = height * panels.length
  const content = [
    element('title', {}, escapeXml(name)),
    element('rect', { width, height: whole, fill: '#fff' }),
    ...panels.map((inner, index) => element('g', { transform: `translate(0 ${index * height})` }, inner)),
  ]
  const attributes = { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${whole}`, role: 'img' }
  return `${element('svg', { ...attributes, 'font-family': 'sans-serif', 'font-size': 12 }, content)}\n`
}

/** The points of a cumulative distribution: to each value, which per cent of all is no larger. */
export const cumulative = (values: readonly number[]): PlotPoint[] =>
  values
    .toSorted((one, other) => one - other)
    .map((each, index) => [each, (100 * (index + 1)) / values.length] as const)

export const label = (x: number, y: number, anchor: string, content: string, fill = '#222'): string =>
  element('text', { x, y, 'text-anchor': anchor, fill }, escapeXml(content))

export const inShort = (value: number): string => String(Number(value.toPrecision(3)))

/** Of shares of the width and of the height. */
const place = (x: number, y: number): readonly [string, string] => [
  (left + x * plotWidth).toFixed(1),
  (top + (1 - y) * plotHeight).toFixed(1),
]

const frame = (title: string, most: string): string[] => {
  const [x0, y0] = place(0, 0)
  return [
    label(left, top - 12, 'start', title),
    element('path', { d: `M${x0} ${top}V${y0}H${left + plotWidth}`, fill: 'none', stroke: '#888' }),
    label(left - 6, top + 10, 'end', most),
    label(left - 6, top + plotHeight, 'end', '0'),
    label(left, top + plotHeight + 16, 'start', '0'),
  ]
}

type At = (x: number, y: number) => readonly [string, string]

const stepsOf = (points: readonly PlotPoint[], at: At): string =>
  points
    .map(([x, y]) => at(x, y))
    .map(([x, y]) => `H${x}V${y}`)
    .join('')

const area = (band: NonNullable<PlotLine['band']>, at: At): string => {
  const upper = band.map(([x, , most]) => at(x, most).join(' '))
  const lower = band.toReversed().map(([x, least]) => at(x, least).join(' '))
  return `M${[...upper, ...lower].join('L')}Z`
}
