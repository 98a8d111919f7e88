import { describe, expect, it } from 'vitest'
import { inet } from '../../topologies/generate/inet.ts'
import { inetDegrees } from '../../topologies/generate/inet-degrees.ts'
import { meanRoundTrip, routesBetweenEnds, withMeanRoundTrip } from '../../topologies/round-trip.ts'
import { collapse } from '../../topologies/routes.ts'
import { summariseDegrees } from '../../topologies/summary/degrees.ts'
import { degreesOf, stubsOf, type Topology } from '../../topologies/topology.ts'
import { reachedFromFirst } from './graphs.ts'

const countOf = (degrees: readonly number[], degree: number) => degrees.filter(each => each === degree).length

describe('degrees', () => {
  // What the authors' program (Inet 3.0, 2002) prints for so many nodes, whatever the seed.
  it.each([
    { nodes: 3037, links: 4788, first: [684, 374, 263, 161, 127, 106], one: 1348, two: 1049, three: 250 },
    { nodes: 5000, links: 8690, first: [1025, 561, 394, 316, 247, 204], one: 1922, two: 1983, three: 412 },
    { nodes: 8000, links: 15_493, first: [1501, 821, 639, 577, 493, 404], one: 2798, two: 3383, three: 660 },
  ])('of $nodes nodes are those of the published program', ({ nodes, links, first, one, two, three }) => {
    const degrees = inetDegrees(nodes)
    expect(degrees).toHaveLength(nodes)
    expect(degrees.reduce((sum, degree) => sum + degree)).toBe(2 * links)
    expect(degrees.slice(0, 6)).toEqual(first)
    expect([1, 2, 3].map(degree => countOf(degrees, degree))).toEqual([one, two, three])
  })
})

describe.each([1, 2, 3])('inet of 3,037 nodes, seed %i', seed => {
  const topology = inet(3037, seed)

  it('has the degrees that the laws give, each link once, and is connected', () => {
    expect(degreesOf(topology.nodes, topology.links)).toEqual(inetDegrees(3037))
    expect(new Set(topology.links.map(({ from, to }) => `${from} ${to}`)).size).toBe(topology.links.length)
    expect(reachedFromFirst(topology)).toBe(3037)
  })

  it('follows the published laws', () => {
    const { ccdfLaw, rankLaw, degreeOneShare } = summariseDegrees(topology)
    // In November 1997 the exponent of P(degree > d) was -1.223, that of degree by rank -0.87.
    expect(ccdfLaw!.exponent).toBeCloseTo(-1.223, 1)
    expect(ccdfLaw!.correlation).toBeLessThan(-0.99)
    expect(rankLaw!.exponent).toBeCloseTo(-0.87, 1)
    expect(degreeOneShare).toBeCloseTo(0.292 + 462 / 3037, 3)
  })

  it('has stubs where there is one link, and the delays of ModelNet', () => {
    const degrees = degreesOf(topology.nodes, topology.links)
    expect(stubsOf(topology)).toEqual(topology.nodes.flatMap(({ id }, index) => (degrees[index] === 1 ? [id] : [])))
    for (const { from, to, delayMs } of topology.links.slice(0, 100)) {
      const [one, other] = [topology.nodes[Number(from)]!.at!, topology.nodes[Number(to)]!.at!]
      expect(Math.abs(300 * delayMs - Math.hypot(one[0] - other[0], one[1] - other[1]))).toBeLessThan(1)
    }
  })
})

describe('inet of 5,000 nodes', () => {
  const topologies = [1, 2, 3].map(seed => inet(5000, seed))

  it('has the path lengths of the published program', () => {
    // Its own, of seeds 0, 1 and 2, are 3.664, 3.492 and 3.625 links in the mean between any two nodes.
    for (const topology of topologies) expect(Math.abs(meanHops(topology) - 3.59)).toBeLessThan(0.3)
  })

  it('prefers the neighbours that the published program prefers', () => {
    // There the neighbour of a node with one link has 256.4, 255.5 and 254.2 links in the mean, where its weights are cut
    // to whole numbers, which favours large degrees a little; by degree alone it would have 145.
    for (const topology of topologies) expect(Math.abs(meanDegreeBehindStubs(topology) - 255.4)).toBeLessThan(25)
  })
})

/** By the way of least links, from a sample of nodes to another. */
const meanHops = ({ nodes, links }: Topology) => {
  const every = nodes.filter((_, index) => index % 25 === 0).map(({ id }) => id)
  const routes = collapse({ nodes, links: links.map(link => ({ ...link, delayMs: 1 })) }, every)
  return routes.reduce((sum, { hops }) => sum + hops, 0) / routes.length
}

/** Stubs come last, so that a link to one leads from its neighbour. */
const meanDegreeBehindStubs = ({ nodes, links }: Topology) => {
  const degrees = degreesOf(nodes, links)
  const behind = links.filter(link => link.class === 'stub-transit').map(({ from }) => degrees[Number(from)]!)
  return behind.reduce((sum, degree) => sum + degree, 0) / behind.length
}

it('is the same for the same seed only', () => {
  expect(inet(3037, 7)).toEqual(inet(3037, 7))
  expect(inet(3037, 7).links).not.toEqual(inet(3037, 8).links)
})

it('comes to the mean round trip that is asked for', () => {
  const scaled = withMeanRoundTrip(inet(3037, 1), 130)
  expect(meanRoundTrip(routesBetweenEnds(scaled))).toBeCloseTo(130, 9)
})

it('refuses what the laws do not hold for, and what takes too long', () => {
  expect(() => inet(99, 1)).toThrow('nodes: expected from 100 to 20000 for inet, found 99')
  expect(() => inet(20_001, 1)).toThrow('nodes: expected from 100 to 20000 for inet, found 20001')
})

it.each([100, 500, 1500, 3036])(
  '%i nodes are fewer than it has laws for: the laws of its smallest, scaled, and said',
  count => {
    const { name, nodes, links } = inet(count, 1)
    expect(name).toBe(`inet of ${count} nodes, seed 1, scaled down: INET has no laws for fewer than 3037`)
    expect(nodes).toHaveLength(count)
    expect(reachedFromFirst({ nodes, links })).toBe(count)
    const degrees = degreesOf(nodes, links)
    expect(degrees.filter(degree => degree === 1).length / count).toBeCloseTo(0.444, 1)
    expect(Math.max(...degrees) / count).toBeCloseTo(684 / 3037, 1)
  },
)
