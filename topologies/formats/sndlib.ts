import { TopologyError } from '../error.ts'
import { classified } from '../roles.ts'
import type { Topology } from '../topology.ts'
import { checkEnds } from './ends.ts'
import { fibreMs } from './geography.ts'
import { elementsNamed, elementText, numberAt, parseXml, type XmlElement } from './xml-elements.ts'

/**
 * Reads SNDlib's XML (Orlowski and others, 2010). A link's delay is that of a fibre between its ends where coordinates are
 * geographical; otherwise its length on the plane, of which the longest link's is 10 ms, because a unit is not said. Its
 * bandwidth is the capacity that is installed, where the file says the unit. Demands are left out. Throws a
 * `TopologyError` with the line.
 */
export const readSndlib = (text: string): Topology => {
  const root = parseXml(text)
  const isGeographical = elementsNamed(root, 'nodes')[0]?.attributes.coordinatesType === 'geographical'
  const nodes = elementsNamed(root, 'node').map(node => ({ id: idOf(node), at: placeOf(node) }))
  const places = new Map(nodes.map(({ id, at }) => [id, at]))
  const bits = bitsOf(elementText(root, 'unit'))
  const found = elementsNamed(root, 'link').map(link => ({
    from: elementText(link, 'source') ?? '',
    to: elementText(link, 'target') ?? '',
    line: link.line,
    ...capacityOf(link, bits),
  }))
  const edges = checkEnds(nodes, found).map(({ line: _line, ...edge }) => {
    const [start, end] = [places.get(edge.from)!, places.get(edge.to)!]
    return { ...edge, length: isGeographical ? fibreMs(start, end) : Math.hypot(start[0] - end[0], start[1] - end[1]) }
  })
  const longest = edges.reduce((most, { length }) => Math.max(most, length), 0)
  const scale = isGeographical || longest === 0 ? 1 : longestMs / longest
  return classified({ nodes, links: edges.map(({ length, ...link }) => ({ ...link, delayMs: length * scale })) })
}

const longestMs = 10

const idOf = ({ attributes: { id }, line }: XmlElement): string => {
  if (!id) throw new TopologyError(`line ${line}: expected <node> with id, found none`)
  return id
}

const placeOf = (node: XmlElement): readonly [number, number] => [
  numberAt(node, '<x>', elementText(node, 'x'), Number.NEGATIVE_INFINITY),
  numberAt(node, '<y>', elementText(node, 'y'), Number.NEGATIVE_INFINITY),
]

const capacityOf = (link: XmlElement, bits: number | undefined): { bandwidth?: number } => {
  const [installed] = elementsNamed(link, 'preInstalledModule')
  if (installed === undefined || bits === undefined) return {}
  const capacity = numberAt(installed, '<capacity>', elementText(installed, 'capacity'))
  return capacity > 0 ? { bandwidth: capacity * bits } : {}
}

/** Bits a second of a unit such as `MBITPERSEC`. */
const bitsOf = (unit = ''): number | undefined => units[/^([KMG]?)BITPERSEC$/i.exec(unit)?.[1]?.toUpperCase() ?? 'none']

const units: Readonly<Record<string, number>> = { '': 1, K: 1e3, M: 1e6, G: 1e9 }
