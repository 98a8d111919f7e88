import { element, escapeXml } from '../xml.ts'

/** Side of a panel and the margin in it, in units of the picture. */
export const panelSide = 640
export const margin = 60

/** Text, centred at a point. */
export const panelText = (
  x: number,
  y: number,
  content: string,
  attributes: Readonly<Record<string, string | number>> = {},
) => element('text', { x, y, 'text-anchor': 'middle', fill: '#222', ...attributes }, escapeXml(content))

/** A point of a panel for values from 0 to 1, y upwards. */
export const pointOf = (x: number, y: number): [number, number] => [
  round(margin + x * (panelSide - 2 * margin)),
  round(panelSide - margin - y * (panelSide - 2 * margin)),
]

const round = (value: number) => Math.round(value * 10) / 10
