import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { generate, topologyKinds } from '../../topologies/generate/generate.ts'
import { generateInternet } from '../../topologies/generate/internet.ts'
import { collapse } from '../../topologies/routes.ts'
import { checkTopology } from '../../topologies/schema.ts'
import { linkClasses, pipesOf, roles, type Topology } from '../../topologies/topology.ts'
import { reachedFromFirst } from './graphs.ts'

const small = topologyKinds.filter(kind => kind !== 'inet')

test.each(small)('%s: as many nodes as asked, connected, a topology by the schema', kind => {
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 150 }), fc.nat(1000), (count, seed) => {
      const topology = generate(kind, count, seed)
      expect(topology.nodes).toHaveLength(count)
      expect(reachedFromFirst(topology)).toBe(count)
      expect(checkTopology(topology)).toEqual(topology)
    }),
    { numRuns: 30 },
  )
})

const rolesOf = ({ nodes }: Topology) =>
  Object.fromEntries(roles.map(role => [role, nodes.filter(node => node.role === role).length]))
const classesOf = ({ links }: Topology) =>
  Object.fromEntries(linkClasses.map(each => [each, links.filter(link => link.class === each).length]))

describe('transit-stub', () => {
  it('of 100 nodes is shaped as GT-ITM’s sample: 4 routers, 3 stub domains of 8 nodes at each', () => {
    const topology = generate('transit-stub', 100, 1)
    expect(rolesOf(topology)).toEqual({ transit: 4, stub: 96, client: 0 })
    expect(classesOf(topology)['stub-transit']).toBe(12)
  })

  it('joins each stub domain to one router, so that no route passes through a stub domain', () => {
    const { nodes, links } = generate('transit-stub', 600, 3)
    const roleOf = new Map(nodes.map(({ id, role }) => [id, role]))
    const domains = new Map<string, string>()
    const rootOf = (id: string): string => (domains.has(id) ? rootOf(domains.get(id)!) : id)
    for (const { from, to } of links.filter(link => link.class === 'stub-stub')) {
      if (rootOf(from) !== rootOf(to)) domains.set(rootOf(from), rootOf(to))
    }
    const gateways = links.filter(link => link.class === 'stub-transit')
    const stubEnds = gateways.map(({ from, to }) => rootOf(roleOf.get(from) === 'stub' ? from : to))
    expect(new Set(stubEnds).size).toBe(stubEnds.length)
  })

  it('is the same for the same seed only', () => {
    expect(generate('transit-stub', 200, 5)).toEqual(generate('transit-stub', 200, 5))
    expect(generate('transit-stub', 200, 5)).not.toEqual(generate('transit-stub', 200, 6))
  })
})

describe('small topologies', () => {
  const routes = (topology: Topology, ...ends: string[]) =>
    collapse(topology, ends).map(({ delayMs, hops }) => ({ delayMs, hops }))

  it('mesh: 10 ms and one link between any two', () => {
    const mesh = generate('mesh', 5, 1)
    expect(mesh.links).toHaveLength(10)
    expect(routes(mesh, 's1', 's4')).toEqual(Array(2).fill({ delayMs: 10, hops: 1 }))
  })

  it('star: all stubs behind one router', () => {
    const star = generate('star', 5, 1)
    expect(rolesOf(star)).toEqual({ transit: 1, stub: 4, client: 0 })
    expect(routes(star, 's1', 's4')).toEqual(Array(2).fill({ delayMs: 10, hops: 2 }))
  })

  it('dumbbell: half of the stubs behind each of two routers', () => {
    const dumbbell = generate('dumbbell', 8, 1)
    expect(classesOf(dumbbell)).toMatchObject({ 'transit-transit': 1, 'stub-transit': 6 })
    expect(routes(dumbbell, 's1', 's3')).toEqual(Array(2).fill({ delayMs: 10, hops: 2 }))
    expect(routes(dumbbell, 's1', 's4')).toEqual(Array(2).fill({ delayMs: 20, hops: 3 }))
  })

  it('two-tier: routers that are all linked, stubs spread evenly behind them', () => {
    const twoTier = generate('two-tier', 16, 1)
    expect(rolesOf(twoTier)).toEqual({ transit: 4, stub: 12, client: 0 })
    expect(classesOf(twoTier)).toMatchObject({ 'transit-transit': 6, 'stub-transit': 12 })
    expect(routes(twoTier, 's1', 's3')).toEqual(Array(2).fill({ delayMs: 10, hops: 2 }))
    expect(routes(twoTier, 's1', 's12')).toEqual(Array(2).fill({ delayMs: 20, hops: 3 }))
  })

  it('refuse numbers of nodes that make none', () => {
    expect(() => generate('mesh', 1, 1)).toThrow('nodes: expected from 2 to 1000 for mesh, found 1')
    expect(() => generate('star', 100_000, 1)).toThrow('nodes: expected from 3 to 1000 for star, found 100000')
    expect(() => generate('transit-stub', 1, 1)).toThrow('nodes: expected from 2 to 20000 for transit-stub, found 1')
  })
})

test('each pipe of a generated internet has a queue: its bandwidth times twice its delay, 50 packets at least', () => {
  const { nodes, links } = generateInternet('transit-stub', 100, 1, 130)
  const pipes = links.flatMap(link => Object.values(pipesOf(link)).filter(pipe => pipe !== null))
  for (const { bandwidth, delayMs, queue } of pipes)
    expect(queue).toEqual({ packets: Math.max(50, Math.ceil((bandwidth! * 2 * delayMs) / 8000 / 1500)) })
  expect(pipes.some(({ queue }) => queue && 'packets' in queue && queue.packets > 50)).toBe(true)
  expect(nodes.filter(({ role }) => role === 'stub').map(({ access }) => access?.back?.queue)).toContainEqual({
    packets: 50,
  })
})
