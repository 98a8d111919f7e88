import { type BothWays, type Pipe, queuePacketsMax, type Topology } from './topology.ts'

/** Size of a full Ethernet packet. */
const packetBytes = 1500
/** Default queue of a pipe in dummynet, on which ModelNet is built. */
const packetsMin = 50

/**
 * Adds a queue to each pipe that has a bandwidth but none yet: as many packets as it sends during a round trip (its
 * bandwidth times twice its delay), and at least 50.
 */
export const withQueues = (topology: Topology): Topology => ({
  ...topology,
  nodes: topology.nodes.map(node => (node.access ? { ...node, access: bothWays(node.access) } : node)),
  links: topology.links.map(bothWays),
})

const bothWays = <W extends BothWays>(ways: W): W => {
  const there = withQueue(ways)
  return ways.back ? { ...there, back: withQueue(ways.back) } : there
}

const withQueue = <P extends Pipe>(pipe: P): P => {
  const { bandwidth, delayMs, queue } = pipe
  if (bandwidth === undefined || queue !== undefined) return pipe
  const packets = Math.ceil((bandwidth * 2 * delayMs) / 8000 / packetBytes)
  return { ...pipe, queue: { packets: Math.min(Math.max(packets, packetsMin), queuePacketsMax) } }
}
