import { TopologyError } from '../error.ts'
import { classified } from '../roles.ts'
import type { NodeRole, Pipe, Topology } from '../topology.ts'
import { linkClasses } from '../topology.ts'
import { checkEnds } from './ends.ts'
import { linksOfArcs } from './ways.ts'
import { elementsNamed, numberAt, parseXml, type XmlElement } from './xml-elements.ts'

/**
 * Reads ModelNet's `.graph`, and `.model`, which is one with machines (the ModelNet HOWTO, version 0.99): vertices, one-way
 * edges, and `specs` with what edges of a kind have unless they say it: `dbl_kbps`, `int_delayms`, `dbl_plr`, `int_qlen` in
 * packets. A `virtnode` is where a client may be, so it is a stub; a `gateway` is a transit. Machines are left out, and a
 * `.route` is refused, for paths are found here. Throws a `TopologyError` with the line.
 */
export const readModelnet = (text: string): Topology => {
  const root = parseXml(text)
  const edges = elementsNamed(root, 'edge')
  if (root.name === 'allpairs' || edges.length === 0)
    throw new TopologyError('expected vertices and edges, found none: paths are found here, so give the .graph file')
  const specs = new Map(elementsNamed(root, 'specs').flatMap(({ children }) => children.map(spec => [spec.name, spec])))
  const arcs = edges.map(edge => {
    const spec = specs.get(edge.attributes.specs ?? '')
    const linkClass = linkClasses.find(name => name === edge.attributes.specs)
    return {
      from: indexAt(edge, 'int_src'),
      to: indexAt(edge, 'int_dst'),
      line: edge.line,
      ...(linkClass && { class: linkClass }),
      pipe: pipeOf(edge, { ...spec?.attributes, ...edge.attributes }),
    }
  })
  const vertices = elementsNamed(root, 'vertex')
  const nodes =
    vertices.length > 0
      ? vertices.map(vertex => nodeOf(vertex))
      : [...new Set(arcs.flatMap(({ from, to }) => [from, to]))].map(id => ({ id }))
  const links = linksOfArcs(checkEnds(nodes, arcs).map(({ line: _line, ...arc }) => arc))
  return classified({ nodes, links })
}

const indexAt = (edge: XmlElement, name: string): string => String(numberAt(edge, name, edge.attributes[name]))

const nodeOf = (vertex: XmlElement) => {
  const { role: word = '', int_vn: number } = vertex.attributes
  const role = roles[word]
  return {
    id: indexAt(vertex, 'int_idx'),
    ...(role && { role }),
    ...(number !== undefined && word === 'virtnode' && { label: `vn ${number}` }),
  }
}

const roles: Readonly<Record<string, NodeRole>> = {
  virtnode: 'stub',
  gateway: 'transit',
  transit: 'transit',
  stub: 'stub',
}

const pipeOf = (edge: XmlElement, attributes: XmlElement['attributes']): Pipe => {
  const given = (name: string) => (attributes[name] === undefined ? undefined : numberAt(edge, name, attributes[name]))
  const [kbits, loss, packets] = [given('dbl_kbps'), given('dbl_plr'), given('int_qlen')]
  if (loss !== undefined && loss > 1)
    throw new TopologyError(`line ${edge.line}: expected dbl_plr from 0 to 1, found ${loss}`)
  return {
    delayMs: given('int_delayms') ?? 0,
    ...(kbits && { bandwidth: kbits * 1e3 }),
    ...(loss && { loss }),
    ...(packets && { queue: { packets: Math.ceil(packets) } }),
  }
}
