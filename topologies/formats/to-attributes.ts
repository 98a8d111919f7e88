import type { Topology, TopologyNode } from '../topology.ts'
import type { AttributedGraph, Attributes } from './attributed-graph.ts'
import { formatBandwidth, formatTime } from './units.ts'
import { type Arc, arcsOfLink } from './ways.ts'

/**
 * A topology as the attributes that `topologyOf` reads. The graph is directed if any link differs in its directions. Of
 * the access of stubs only the bandwidth is kept, since Shadow has nothing else.
 */
export const graphOf = ({ name, nodes, links }: Topology): AttributedGraph => {
  const directed = links.some(({ back }) => back !== undefined)
  return {
    directed,
    attributes: name === undefined ? {} : { label: name },
    nodes: nodes.map(node => ({ id: node.id, attributes: ofNode(node), line: 0 })),
    edges: links
      .flatMap(link => (directed ? arcsOfLink(link) : arcsOfLink(link).slice(0, 1)))
      .map(arc => ({ source: arc.from, target: arc.to, attributes: ofArc(arc), line: 0 })),
  }
}

const ofNode = ({ id, role, at, label = id, access }: TopologyNode): Attributes => {
  const up = access?.back ?? access
  return {
    label,
    role,
    ...(at && { x: at[0], y: at[1] }),
    ...(access?.bandwidth !== undefined && { host_bandwidth_down: formatBandwidth(access.bandwidth) }),
    ...(up?.bandwidth !== undefined && { host_bandwidth_up: formatBandwidth(up.bandwidth) }),
  }
}

const ofArc = ({ class: linkClass, pipe }: Arc): Attributes => {
  const { delayMs, jitterMs, bandwidth, loss = 0, queue, cross } = pipe
  return {
    ...(linkClass && { class: linkClass }),
    latency: formatTime(delayMs),
    ...(jitterMs !== undefined && { jitter: formatTime(jitterMs) }),
    packet_loss: loss,
    ...(bandwidth !== undefined && { LinkSpeedRaw: bandwidth }),
    ...(queue && ('packets' in queue ? { queue_packets: queue.packets } : { queue_bytes: queue.bytes })),
    ...(queue?.discipline && { queue_discipline: queue.discipline }),
    ...(cross && { cross_bandwidth: cross.bandwidth }),
    ...(cross?.bytes !== undefined && { cross_bytes: cross.bytes }),
    ...(cross?.burst !== undefined && { cross_burst: cross.burst }),
  }
}
