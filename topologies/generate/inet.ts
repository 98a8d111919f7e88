import { seededRandom, type UniformRandom, weightedIndex } from '../random.ts'
import { classOf, type Link, type Topology, type TopologyNode } from '../topology.ts'
import { checkCount } from './count.ts'
import { inetDegrees, inetNodesMin } from './inet-degrees.ts'
import { anywhere, travelMs } from './plane.ts'

/**
 * An internet as INET-3.0 generates it: degrees by its laws, nodes uniform on a plane, links by preference. Nodes of
 * degree one are stubs, all others transit; delays are ModelNet's for the lengths of links.
 */
export const inet = (count: number, seed: number): Topology => {
  checkCount('inet', count, scaledNodesMin, inetNodesMax)
  const random = seededRandom(seed)
  const degrees = inetDegrees(count)
  const nodes = degrees.map((degree, index): TopologyNode & { at: readonly [number, number] } => ({
    id: String(index),
    role: degree === 1 ? 'stub' : 'transit',
    at: anywhere(random),
  }))
  const links = connect(degrees, random).map(([from, to]): Link => {
    const [one, other] = [nodes[from]!, nodes[to]!]
    return { from: one.id, to: other.id, class: classOf(one.role, other.role), delayMs: travelMs(one.at, other.at) }
  })
  const scaled = count < inetNodesMin ? `, scaled down: INET has no laws for fewer than ${inetNodesMin}` : ''
  return { name: `inet of ${count} nodes, seed ${seed}${scaled}`, nodes, links }
}

/** With fewer nodes, nothing of its laws would remain. */
const scaledNodesMin = 100
/** Limit because choosing neighbours takes quadratic time, a quarter of a minute for this many. */
const inetNodesMax = 20_000

/** Pairs of indices, the lower first. Degrees must be in decreasing order. */
const connect = (degrees: readonly number[], random: UniformRandom): [number, number][] => {
  const preference = preferenceFor(degrees)
  const free = Int32Array.from(degrees)
  const neighbours = degrees.map(() => new Set<number>())
  const links: [number, number][] = []

  const join = (node: number, first: number, end: number, mayBe = (_other: number) => true) => {
    const chance = preference(node)
    const other = weightedIndex(random, first, end, index => (free[index]! > 0 && mayBe(index) ? chance(index) : 0))
    if (other === undefined) return false
    links.push([Math.min(node, other), Math.max(node, other)])
    neighbours[node]!.add(other)
    neighbours[other]!.add(node)
    free[node]! -= 1
    free[other]! -= 1
    return true
  }

  const firstOfDegreeOne = degrees.indexOf(1)
  // First a tree of all nodes with more than one link, then the other nodes, then links between free ends.
  for (let node = 1; node < firstOfDegreeOne; node++) join(node, 0, node)
  for (let node = firstOfDegreeOne; node < degrees.length; node++) join(node, 0, firstOfDegreeOne)
  for (let node = 0; node < firstOfDegreeOne; node++) {
    const isStranger = (other: number) => !neighbours[node]!.has(other)
    while (free[node]! > 0 && join(node, node + 1, firstOfDegreeOne, isStranger));
  }
  return links
}

/**
 * How much node i prefers node j: the degree of j times the distance between the logarithms of their degrees and of the
 * frequencies of these, which is at least 1.
 */
const preferenceFor = (degrees: readonly number[]) => {
  const frequency = new Map<number, number>()
  for (const degree of degrees) frequency.set(degree, (frequency.get(degree) ?? 0) + 1)
  const kinds = [...frequency]
  const kindOf = new Map(kinds.map(([degree], kind) => [degree, kind]))
  const nodeKind = Int32Array.from(degrees, degree => kindOf.get(degree)!)
  const table = kinds.map(([degree, count]) =>
    Float64Array.from(kinds, ([other, otherCount]) => {
      const distance = Math.hypot(Math.log(degree / other), Math.log(count / otherCount))
      return other * Math.max(1, distance)
    }),
  )
  return (node: number) => {
    const row = table[nodeKind[node]!]!
    return (other: number) => row[nodeKind[other]!]!
  }
}
