import { type Pipe, queuePacketsMax, type Topology, type Ways } from './topology.ts'

/** A full Ethernet's packet. */
const packetBytes = 1500
/** What dummynet, of which ModelNet is made, gives a pipe where nobody says otherwise. */
const packetsMin = 50

/**
 * A queue for each pipe that has a bandwidth and none yet: as many packets as it sends while one goes there and back, its
 * bandwidth times twice its delay, but 50 at least.
 */
export const withQueues = (topology: Topology): Topology => ({
  ...topology,
  nodes: topology.nodes.map(node => (node.access ? { ...node, access: bothWays(node.access) } : node)),
  links: topology.links.map(bothWays),
})

const bothWays = <W extends Ways>(ways: W): W => {
  const there = withQueue(ways)
  return ways.back ? { ...there, back: withQueue(ways.back) } : there
}

const withQueue = <P extends Pipe>(pipe: P): P => {
  const { bandwidth, delayMs, queue } = pipe
  if (bandwidth === undefined || queue !== undefined) return pipe
  const packets = Math.ceil((bandwidth * 2 * delayMs) / 8000 / packetBytes)
  return { ...pipe, queue: { packets: Math.min(Math.max(packets, packetsMin), queuePacketsMax) } }
}
