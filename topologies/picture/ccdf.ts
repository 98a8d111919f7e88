import type { Degrees } from '../summary/degrees.ts'
import { element } from '../xml.ts'
import { panelSide, panelText, pointOf } from './panel.ts'

/** P(degree > d) over d in log-log, where a power law is a line, and the line that fits. */
export const drawCcdf = ({ ccdf, ccdfLaw, largest }: Degrees): string[] => {
  const points = ccdf.filter(([degree, share]) => degree > 0 && share > 0)
  const decadesX = Math.max(1, Math.ceil(Math.log10(largest)))
  const decadesY = Math.max(1, Math.ceil(-Math.log10(points.reduce((least, [, share]) => Math.min(least, share), 1))))
  const at = (degree: number, share: number) => pointOf(Math.log10(degree) / decadesX, 1 + Math.log10(share) / decadesY)
  return [
    ...grid(decadesX, decade => [at(10 ** decade, 1), at(10 ** decade, 10 ** -decadesY)]),
    ...grid(decadesY, decade => [at(1, 10 ** -decade), at(10 ** decadesX, 10 ** -decade)]),
    ...labels(decadesX, decade => ({ at: at(10 ** decade, 10 ** -decadesY), shift: [0, 18], label: `1e${decade}` })),
    ...labels(decadesY, decade => ({ at: at(1, 10 ** -decade), shift: [-28, 4], label: `1e-${decade}` })),
    panelText(panelSide / 2, panelSide - 20, 'degree d'),
    panelText(panelSide / 2, 40, 'share of nodes with a degree above d'),
    ...points.map(([degree, share]) => {
      const [cx, cy] = at(degree, share)
      return element('circle', { cx, cy, r: 3, fill: '#0072b2' })
    }),
    ...(ccdfLaw ? [law(ccdfLaw, largest, decadesY, at)] : []),
  ]
}

type At = (degree: number, share: number) => [number, number]

const law = ({ exponent, factor }: NonNullable<Degrees['ccdfLaw']>, largest: number, decadesY: number, at: At) => {
  const share = (degree: number) => Math.min(1, factor * degree ** exponent)
  const leaves = (10 ** -decadesY / factor) ** (1 / exponent)
  const end = Math.min(largest, leaves)
  const label = panelText(panelSide * 0.72, panelSide * 0.2, `~ d^${exponent.toFixed(3)}`, { fill: '#d55e00' })
  return `${line(at(1, share(1)), at(end, share(end)), '#d55e00', 2)}${label}`
}

const line = ([x1, y1]: readonly number[], [x2, y2]: readonly number[], stroke: string, width: number) =>
  element('line', { x1: x1!, y1: y1!, x2: x2!, y2: y2!, stroke, 'stroke-width': width })

const decadesUpTo = (last: number) => Array.from({ length: last + 1 }, (_, decade) => decade)

const grid = (decades: number, ends: (decade: number) => readonly [readonly number[], readonly number[]]) =>
  decadesUpTo(decades).map(decade => line(...ends(decade), '#ddd', 1))

interface Label {
  readonly at: readonly number[]
  readonly shift: readonly number[]
  readonly label: string
}

const labels = (decades: number, labelOf: (decade: number) => Label) =>
  decadesUpTo(decades)
    .map(labelOf)
    .map(({ at, shift, label }) => panelText(at[0]! + shift[0]!, at[1]! + shift[1]!, String(Number(label))))
