import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { annotate, internet } from '../../topologies/annotate.ts'
import { arcsOfLink } from '../../topologies/formats/ways.ts'
import { generate } from '../../topologies/generate/generate.ts'
import { place } from '../../topologies/place.ts'
import { meanRoundTrip, routesBetweenEnds, withMeanRoundTrip } from '../../topologies/round-trip.ts'
import { collapse, routesByHop } from '../../topologies/routes.ts'
import { pipesOf, type Topology } from '../../topologies/topology.ts'
import { anyTopology } from './graphs.ts'

const line: Topology = {
  nodes: ['a', 'b', 'c'].map(id => ({ id, role: 'stub' })),
  links: [
    { from: 'a', to: 'b', class: 'stub-stub', delayMs: 5, bandwidth: 1e6, loss: 0.1, queue: { packets: 10 } },
    {
      from: 'c',
      to: 'b',
      class: 'stub-stub',
      delayMs: 7,
      jitterMs: 1,
      bandwidth: 2e6,
      loss: 0.2,
      back: { delayMs: 1 },
    },
  ],
}

describe('collapse', () => {
  it('adds delays, takes the narrowest bandwidth with its queue, and loses what any link loses', () => {
    expect(collapse(line, ['a', 'c'])).toEqual([
      {
        ...{ from: 'a', to: 'c', hops: 2, delayMs: 6, jitterMs: 0, loss: expect.closeTo(0.1, 12) },
        ...{ bandwidth: 1e6, queue: { packets: 10 } },
      },
      {
        ...{ from: 'c', to: 'a', hops: 2, delayMs: 12, jitterMs: 1, loss: expect.closeTo(0.28, 12) },
        ...{ bandwidth: 1e6, queue: { packets: 10 } },
      },
    ])
  })

  it('takes the link of which others leave least, with their traffic', () => {
    const cross = { bandwidth: 1.5e6, burst: 4 }
    const busy = {
      ...line,
      links: [line.links[0]!, { ...line.links[1]!, back: { delayMs: 1, bandwidth: 2e6, cross } }],
    }
    expect(collapse(busy, ['a', 'c'])).toMatchObject([{ bandwidth: 2e6, cross }, { bandwidth: 1e6 }])
    expect(collapse(busy, ['a', 'c'])[1]).not.toHaveProperty('cross')
  })

  it('goes hop by hop through links that routes share, and knows their other directions', () => {
    const topology: Topology = {
      nodes: ['a', 'b', 'c', 'd', 'e'].map(id => ({ id, role: 'stub' })),
      links: [
        { from: 'a', to: 'b', class: 'stub-stub', delayMs: 1 },
        { from: 'b', to: 'c', class: 'stub-stub', delayMs: 2, loss: 0.5 },
        { from: 'c', to: 'd', class: 'stub-stub', delayMs: 4, bandwidth: 1000 },
        { from: 'd', to: 'e', class: 'stub-stub', delayMs: 8, bandwidth: 2000 },
      ],
    }
    const routes = routesByHop(topology, ['a', 'b', 'e'])
    const pipes = (from: string, to: string) => routes.find(route => route.from === from && route.to === to)!.pipes
    expect(pipes('a', 'e')).toEqual([
      { delayMs: 1 },
      { delayMs: 2, loss: 0.5 },
      { delayMs: 4, bandwidth: 1000 },
      { delayMs: 8, bandwidth: 2000 },
    ])
    expect(pipes('b', 'e')[1]).toBe(pipes('a', 'e')[2])
    expect(pipes('e', 'a')[1]).not.toBe(pipes('a', 'e')[2])
    const { back } = routes.find(route => route.from === 'a' && route.to === 'e')!
    expect(back.map(direction => direction!.pipe)).toEqual(pipes('e', 'a').toReversed())
  })

  it('names the pair that has no way, and a node that is not there', () => {
    const [first, second] = line.links
    const oneWay = { ...line, links: [first!, { ...second!, back: null }] }
    expect(() => collapse(oneWay, ['a', 'c'])).toThrow('there is no way from "a" to "c"')
    expect(() => collapse(line, ['a', 'z'])).toThrow('there is no node "z"')
  })

  it('finds the least delay: the same as Floyd and Warshall', () => {
    fc.assert(
      fc.property(anyTopology(), topology => {
        const least = floydWarshall(topology)
        for (const { id: from } of topology.nodes) {
          for (const { id: to } of topology.nodes) {
            if (from === to) continue
            const delay = least.get(`${from}\n${to}`)
            const found = () => collapse(topology, [from, to]).find(route => route.from === from)!.delayMs
            if (delay === undefined || least.get(`${to}\n${from}`) === undefined)
              expect(found).toThrow('there is no way')
            else expect(found()).toBeCloseTo(delay, 6)
          }
        }
      }),
    )
  })
})

const floydWarshall = ({ nodes, links }: Topology) => {
  const least = new Map<string, number>()
  const improve = (from: string, to: string, delay: number) => {
    if (from !== to && delay < (least.get(`${from}\n${to}`) ?? Number.POSITIVE_INFINITY))
      least.set(`${from}\n${to}`, delay)
  }
  for (const { from, to, pipe } of links.flatMap(arcsOfLink)) improve(from, to, pipe.delayMs)
  for (const { id: by } of nodes) {
    for (const { id: from } of nodes) {
      for (const { id: to } of nodes) {
        const [first, second] = [least.get(`${from}\n${by}`), least.get(`${by}\n${to}`)]
        if (first !== undefined && second !== undefined) improve(from, to, first + second)
      }
    }
  }
  return least
}

describe('annotate', () => {
  const annotated = annotate(generate('transit-stub', 100, 1), internet, 1)

  it('gives 100 Mbit/s, and each direction a loss of its own in the range', () => {
    const pipes = annotated.links.flatMap(link => Object.values(pipesOf(link)).flatMap(pipe => pipe ?? []))
    expect(new Set(pipes.map(({ bandwidth }) => bandwidth))).toEqual(new Set([100e6]))
    const losses = pipes.map(({ loss }) => loss!)
    expect(losses.every(loss => loss >= 0.001 && loss <= 0.005)).toBe(true)
    expect(new Set(losses).size).toBeGreaterThan(losses.length * 0.9)
    // Uniform in a range of 0.004: four standard deviations of the mean.
    const mean = losses.reduce((sum, loss) => sum + loss, 0) / losses.length
    expect(Math.abs(mean - 0.003)).toBeLessThan((4 * 0.004) / Math.sqrt(12 * losses.length))
  })

  it('gives clients 5 Mbit/s down and 1 Mbit/s up, before and after they are placed', () => {
    const clients = (topology: Topology) => topology.links.filter(link => link.class === 'client-stub')
    const placed = clients(place(annotated, ['n1'], 1))
    expect(placed).toMatchObject([{ to: 'n1', bandwidth: 5e6, back: { bandwidth: 1e6 } }])
    const [later] = clients(annotate(place(generate('star', 4, 1), ['n1'], 1), internet, 1))
    expect(later).toMatchObject({ to: 'n1', bandwidth: 5e6, back: { bandwidth: 1e6 } })
  })

  it('draws the same for the same seed, and keeps a missing way back missing', () => {
    expect(annotate(line, internet, 4)).toEqual(annotate(line, internet, 4))
    expect(annotate(line, internet, 4)).not.toEqual(annotate(line, internet, 5))
    const oneWay = { ...line, links: [{ ...line.links[0]!, back: null }] }
    expect(annotate(oneWay, internet, 1).links[0]!.back).toBeNull()
  })
})

describe('place', () => {
  it('gives each node a stub of its own, the same for the same seed', () => {
    const names = Array.from({ length: 50 }, (_, index) => `n${index}`)
    const placed = place(generate('transit-stub', 100, 1), names, 9)
    const stubs = placed.links.filter(link => link.class === 'client-stub').map(({ from }) => from)
    expect(new Set(stubs).size).toBe(50)
    expect(placed.nodes.slice(-50).map(({ id, role }) => [id, role])).toEqual(names.map(name => [name, 'client']))
    expect(place(generate('transit-stub', 100, 1), names, 9)).toEqual(placed)
  })

  it('gives nodes places of their own while there are any, and then as many to each', () => {
    const star = generate('star', 3, 1)
    const names = Array.from({ length: 7 }, (_, index) => `n${index}`)
    const placesOf = (count: number) =>
      place(star, names.slice(0, count), 5)
        .links.slice(star.links.length)
        .map(({ from }) => from)
    const stubs = star.nodes.flatMap(({ id, role }) => (role === 'stub' ? [id] : []))
    expect(placesOf(2).toSorted()).toEqual(stubs.toSorted())
    expect(placesOf(3).slice(0, 2).toSorted()).toEqual(stubs.toSorted())
    expect(placesOf(3)[2]).toBe('hub')
    const times = [...stubs, 'hub'].map(place => placesOf(7).filter(at => at === place).length)
    expect(times.toSorted()).toEqual([2, 2, 3])
    expect(placesOf(7).slice(0, 3)).toEqual(placesOf(3))
  })

  it('refuses names that are taken, and a topology of clients', () => {
    const client = { nodes: [{ id: 'c', role: 'client' as const }], links: [] }
    expect(() => place(client, ['a'], 1)).toThrow('cannot place nodes: the topology has neither stubs nor transits')
    expect(() => place(generate('star', 3, 1), ['hub'], 1)).toThrow(
      'cannot place "hub": the topology has a node of that name',
    )
  })
})

describe('mean round trip', () => {
  it('is over clients where there are any, else over stubs', () => {
    const star = generate('star', 6, 1)
    expect(meanRoundTrip(routesBetweenEnds(star))).toBe(20)
    const { nodes, links } = place(star, ['n1', 'n2'], 1)
    const slow = links.map(link => (link.class === 'client-stub' ? { ...link, delayMs: 100 } : link))
    expect(meanRoundTrip(routesBetweenEnds({ nodes, links: slow }))).toBe(420)
  })

  it('is what is asked for after scaling, both ways and at the access', () => {
    const scaled = withMeanRoundTrip(
      { ...line, nodes: [{ ...line.nodes[0]!, access: { delayMs: 3 } }, ...line.nodes.slice(1)] },
      36,
    )
    const before = meanRoundTrip(routesBetweenEnds(line))
    expect(meanRoundTrip(routesBetweenEnds(scaled))).toBeCloseTo(36, 9)
    expect(scaled.links[1]!.back!.delayMs).toBeCloseTo(36 / before, 9)
    expect(scaled.nodes[0]!.access!.delayMs).toBeCloseTo((3 * 36) / before, 9)
  })

  it('is refused without delays or ends', () => {
    const instant = { ...line, links: line.links.map(({ back: _, ...link }) => ({ ...link, delayMs: 0 })) }
    expect(() => withMeanRoundTrip(instant, 130)).toThrow('cannot make the mean round trip 130 ms: all delays are 0')
    const one = { nodes: line.nodes.slice(0, 1), links: [] }
    expect(routesBetweenEnds(one)).toEqual([])
    expect(() => withMeanRoundTrip(one, 130)).toThrow('expected at least two nodes to go between, found one')
  })
})
