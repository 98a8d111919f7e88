import type { TopologySummary } from '../summary/summary.ts'
import type { Topology } from '../topology.ts'
import { element, escapeXml } from '../xml.ts'
import { drawCcdf } from './ccdf.ts'
import { drawMap } from './map.ts'
import { panelSide, panelText } from './panel.ts'

/** One SVG file that needs nothing else: a map of the plane, and the distribution of degrees with its law. */
export const drawTopology = (topology: Topology, { degrees }: TopologySummary): string => {
  const title = topology.name ?? 'topology'
  const [width, height] = [2 * panelSide, panelSide + titleHeight]
  const panel = (index: number, content: readonly string[]) =>
    element('g', { transform: `translate(${index * panelSide} ${titleHeight})` }, content)
  const content = [
    element('title', {}, escapeXml(title)),
    element('rect', { width, height, fill: '#fff' }),
    panelText(width / 2, titleHeight / 2 + 6, title, { 'font-size': 18 }),
    panel(0, drawMap(topology)),
    panel(1, drawCcdf(degrees)),
  ]
  const attributes = { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, role: 'img' }
  return `${element('svg', { ...attributes, 'font-family': 'sans-serif', 'font-size': 13 }, content)}\n`
}

const titleHeight = 40
