import { crossBurstMax, crossProblem } from '../cross.ts'
import { TopologyError } from '../error.ts'
import { classified, type Unclassified } from '../roles.ts'
import {
  type BothWays,
  type Cross,
  disciplines,
  linkClasses,
  type Pipe,
  queuePacketsMax,
  roles,
  type Topology,
} from '../topology.ts'
import type { AttributedEdge, AttributedGraph, AttributedNode } from './attributed-graph.ts'
import { AttributeReader } from './attributes.ts'
import { fibreMs } from './geography.ts'
import { type Arc, linksOfArcs } from './ways.ts'

type FoundNode = Unclassified['nodes'][number]

/**
 * The meaning of a graph's attributes: Shadow's `latency`, `jitter`, `packet_loss`, `host_bandwidth_down` and `_up`,
 * the Topology Zoo's `label`, `Longitude`, `Latitude` and `LinkSpeedRaw`, and our own `x`, `y`, `role`, `class`,
 * `queue_packets`, `queue_bytes`, `queue_discipline`, `cross_bandwidth`, `cross_bytes` and `cross_burst`. Others are
 * ignored, as are edges from a node to itself, which stand for the path inside a node; but that of the only node, Shadow's
 * switch, is the way between all hosts, so each host's access has half of its latency.
 *
 * An edge without latency gets that of a fibre between its ends or, if one of them has no place, the mean of all other
 * such edges. Throws a `TopologyError` with the line of what is wrong.
 */
export const topologyOf = (graph: AttributedGraph): Topology => {
  if (graph.nodes.length === 0) throw new TopologyError('expected at least one node, found none')
  const nodes = new Map<string, FoundNode>()
  for (const node of graph.nodes) {
    if (nodes.has(node.id)) throw new TopologyError(`line ${node.line}: there is a node "${node.id}" before this one`)
    nodes.set(node.id, readNode(node))
  }
  const edges = graph.edges.filter(({ source, target }) => source !== target)
  for (const { source, target, line } of edges) {
    for (const end of [source, target]) {
      if (!nodes.has(end)) throw new TopologyError(`line ${line}: the edge ends at node "${end}", which is not there`)
    }
  }
  const arcs = withDelays(edges, edges.map(readEdge), nodes)
  const links = graph.directed ? linksOfArcs(arcs) : arcs.map(({ pipe, ...ends }) => ({ ...ends, ...pipe }))
  const name = graph.attributes.label ?? graph.attributes.Network
  const found = graph.nodes.length === 1 ? [asSwitch(nodes.get(graph.nodes[0]!.id)!, graph.edges)] : [...nodes.values()]
  return classified({ ...(name !== undefined && { name: String(name) }), nodes: found, links })
}

/** The only node of a graph, with what its edge to itself says of the way between two hosts. */
const asSwitch = (node: FoundNode, [loop]: readonly AttributedEdge[]): FoundNode => {
  if (loop === undefined) return node
  const { delayMs = 0, pipe } = readEdge(loop)
  const { back, ...there } = node.access ?? { delayMs: 0 }
  // The way leads from one host's access through that of the other. Both have half of the delay, the first one the rest.
  const half = { delayMs: delayMs / 2 }
  return { ...node, access: { ...there, ...half, back: { ...(back ?? there), ...pipe, ...half } } }
}

const readNode = ({ id, attributes, line }: AttributedNode): FoundNode => {
  const reader = new AttributeReader(`line ${line}: node "${id}"`, attributes)
  const coordinate = (name: string) => reader.number(name, 'a number', Number.NEGATIVE_INFINITY)
  const x = coordinate('x') ?? coordinate('Longitude')
  const y = coordinate('y') ?? coordinate('Latitude')
  const label = reader.text('label')
  const role = reader.word('role', roles)
  const access = readAccess(reader)
  return {
    id,
    ...(role && { role }),
    ...(x !== undefined && y !== undefined && { at: [x, y] as const }),
    ...(label !== undefined && label !== id && { label }),
    ...(access && { access }),
  }
}

const readAccess = (reader: AttributeReader): BothWays | undefined => {
  const down = reader.bandwidth('host_bandwidth_down')
  const up = reader.bandwidth('host_bandwidth_up')
  if (down === undefined && up === undefined) return undefined
  const pipe = (bandwidth: number | undefined): Pipe => ({ delayMs: 0, ...(bandwidth !== undefined && { bandwidth }) })
  return down === up ? pipe(down) : { ...pipe(down), back: pipe(up) }
}

type FoundArc = Omit<Arc, 'pipe'> & { readonly pipe: Omit<Pipe, 'delayMs'>; readonly delayMs: number | undefined }

const readCross = (reader: AttributeReader): Cross | undefined => {
  const bandwidth = reader.number('cross_bandwidth', 'bits a second, at least 0', 0)
  const bytes = reader.number('cross_bytes', 'a number of bytes', 1)
  const burst = reader.wholeNumber('cross_burst', `a number of packets from 1 to ${crossBurstMax}`, 1, crossBurstMax)
  if (bandwidth === undefined) return undefined
  return { bandwidth, ...(bytes !== undefined && { bytes }), ...(burst !== undefined && { burst }) }
}

const readEdge = ({ source, target, attributes, line }: AttributedEdge): FoundArc => {
  const reader = new AttributeReader(`line ${line}: edge from "${source}" to "${target}"`, attributes)
  const jitterMs = reader.time('jitter')
  // Some copies of the Topology Zoo have 0 where the speed is not known.
  const bandwidth = reader.number('LinkSpeedRaw', 'bits a second', 0) || undefined
  const loss = reader.number('packet_loss', 'a probability from 0 to 1', 0, 1)
  const packets = reader.number('queue_packets', `a number of packets from 1 to ${queuePacketsMax}`, 1, queuePacketsMax)
  const bytes = reader.number('queue_bytes', 'a number of bytes', 1)
  const linkClass = reader.word('class', linkClasses)
  const discipline = reader.word('queue_discipline', disciplines)
  const limit = packets !== undefined ? { packets } : bytes !== undefined ? { bytes } : undefined
  const queue = limit && { ...limit, ...(discipline && { discipline }) }
  const cross = readCross(reader)
  const problem = crossProblem({
    ...(bandwidth !== undefined && { bandwidth }),
    ...(queue && { queue }),
    ...(cross && { cross }),
  })
  if (problem) throw reader.error('cross_bandwidth', problem)
  return {
    from: source,
    to: target,
    ...(linkClass && { class: linkClass }),
    delayMs: reader.time('latency'),
    pipe: {
      ...(jitterMs !== undefined && jitterMs > 0 && { jitterMs }),
      ...(bandwidth !== undefined && { bandwidth }),
      ...(loss !== undefined && loss > 0 && { loss }),
      ...(queue && { queue }),
      ...(cross && { cross }),
    },
  }
}

const withDelays = (
  edges: readonly AttributedEdge[],
  arcs: readonly FoundArc[],
  nodes: ReadonlyMap<string, FoundNode>,
): Arc[] => {
  const byFibre = ({ from, to }: FoundArc) => {
    const [start, end] = [nodes.get(from)!.at, nodes.get(to)!.at]
    return start && end && fibreMs(start, end)
  }
  const known = arcs.map(arc => arc.delayMs ?? byFibre(arc))
  const fibres = known.filter((delay, index) => delay !== undefined && arcs[index]!.delayMs === undefined)
  const mean = fibres.reduce<number>((sum, delay) => sum + delay!, 0) / fibres.length
  return arcs.map(({ delayMs: _found, pipe, ...ends }, index) => {
    const delayMs = known[index] ?? mean
    if (Number.isNaN(delayMs)) {
      const { line } = edges[index]!
      throw new TopologyError(`line ${line}: expected a latency, or places at both ends to reckon it from, found none`)
    }
    return { ...ends, pipe: { delayMs, ...pipe } }
  })
}
