import { below, seededRandom, type UniformRandom } from '../random.ts'
import { classOf, type Link, type Topology, type TopologyNode } from '../topology.ts'
import { checkCount } from './count.ts'
import { anywhere, near, type PlanePoint, planeSide, travelMs } from './plane.ts'

interface PlacedNode extends TopologyNode {
  readonly at: PlanePoint
}

/**
 * Domains of transit routers with stub domains on each router, in the manner of GT-ITM (Zegura, Calvert and
 * Bhattacharjee, "How to Model an Internetwork", Infocom 1996). The shape is that of its sample of 100 nodes at any
 * size: one transit router for 25 nodes, three stub domains on each, randomly connected domains. Delays follow from
 * lengths.
 */
export const transitStub = (count: number, seed: number): Topology => {
  checkCount('transit-stub', count, nodesMin, nodesMax)
  const random = seededRandom(seed)
  const nodes: PlacedNode[] = []
  const links: Link[] = []

  const add = (role: 'transit' | 'stub', at: PlanePoint): PlacedNode => {
    const node = { id: String(nodes.length), role, at }
    nodes.push(node)
    return node
  }
  const join = (one: PlacedNode, other: PlacedNode) =>
    links.push({
      from: one.id,
      to: other.id,
      class: classOf(one.role, other.role),
      delayMs: travelMs(one.at, other.at),
    })
  const domain = (role: 'transit' | 'stub', size: number, centre: PlanePoint, spread: number, density: number) => {
    const members = Array.from({ length: size }, () => add(role, near(random, centre, spread)))
    for (const [one, other] of connectedPairs(size, density, random)) join(members[one]!, members[other]!)
    return members
  }

  const transitCount = Math.max(1, Math.round(count / nodesPerTransit))
  const domainCount = Math.ceil(transitCount / transitPerDomain)
  const transits = parts(transitCount, domainCount).map(size =>
    domain('transit', size, anywhere(random), planeSide / 8, 0.6),
  )
  for (const [one, other] of connectedPairs(domainCount, 0.6, random)) {
    join(oneOf(transits[one]!, random), oneOf(transits[other]!, random))
  }
  const hosts = transits.flat().flatMap(transit => Array<PlacedNode>(stubsPerTransit).fill(transit))
  for (const [index, size] of parts(count - transitCount, hosts.length).entries()) {
    if (size === 0) continue
    const host = hosts[index]!
    const members = domain('stub', size, near(random, host.at, planeSide / 20), planeSide / 80, 0.42)
    join(host, oneOf(members, random))
  }
  return { name: `transit-stub of ${count} nodes, seed ${seed}`, nodes, links }
}

const nodesMin = 2
const nodesMax = 20_000
const nodesPerTransit = 25
const transitPerDomain = 10
const stubsPerTransit = 3

const oneOf = <T>(list: readonly T[], random: UniformRandom): T => list[below(random, list.length)]!

/** `total` in `count` parts that differ by one at most, the larger first. */
const parts = (total: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => Math.floor(total / count) + (index < total % count ? 1 : 0))

/** Each pair with the same probability, drawn again until all are connected. */
const connectedPairs = (count: number, density: number, random: UniformRandom): [number, number][] => {
  for (;;) {
    const pairs = pairsOf(count).filter(() => random() < density)
    if (isConnected(count, pairs)) return pairs
  }
}

const pairsOf = (count: number): [number, number][] =>
  Array.from({ length: count }, (_, one) =>
    Array.from({ length: count - one - 1 }, (_, index): [number, number] => [one, one + 1 + index]),
  ).flat()

const isConnected = (count: number, pairs: readonly (readonly [number, number])[]) => {
  const reached = new Set([0])
  for (const one of reached) {
    for (const pair of pairs) if (pair.includes(one)) for (const end of pair) reached.add(end)
  }
  return count === 0 || reached.size === count
}
