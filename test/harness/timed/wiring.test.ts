import { expect, test } from 'vitest'
import { planOf } from '../../../harness/timed/wiring.ts'
import type { Topology } from '../../../topologies/topology.ts'

/** Two stubs with a narrow link between, and two machines at each. */
const dumbbell: Topology = {
  nodes: [
    { id: 'left', role: 'stub' },
    { id: 'right', role: 'stub' },
    ...['a', 'b', 'c', 'd'].map(id => ({ id, role: 'client' as const })),
  ],
  links: [
    { from: 'left', to: 'right', class: 'stub-stub', delayMs: 20, bandwidth: 5e6 },
    ...['a', 'b'].map(to => ({ from: 'left', to, class: 'client-stub' as const, delayMs: 1, bandwidth: 1e6 })),
    ...['c', 'd'].map(to => ({ from: 'right', to, class: 'client-stub' as const, delayMs: 2, bandwidth: 2e6 })),
  ],
}
const nodes = ['a', 'b', 'c', 'd'].map(name => ({ name, address: name }))
const wire = (hops: 'collapsed' | 'each', topology = dumbbell) => {
  const { pipes, routes, notes } = planOf(nodes, { topology, hops, seed: 1 })
  const along = (from: string, to: string) =>
    routes.find(
      route => route.from === nodes.findIndex(n => n.name === from) && route.to === nodes.findIndex(n => n.name === to),
    )!.pipes
  return { pipes, along, notes }
}

test('a machine shares its own link, in each direction, and has what is between for each pair', () => {
  const { pipes, along, notes } = wire('collapsed')
  const [first, between, last] = along('a', 'c')
  expect([first, between, last].map(index => pipes[index!]!.delayMs)).toEqual([1, 20, 2])
  expect(along('a', 'd')[0]).toBe(first)
  expect(along('b', 'c')[2]).toBe(last)
  expect(along('b', 'c')[0]).not.toBe(first)
  expect(along('a', 'b')[0]).toBe(first)
  expect(along('c', 'a')).not.toContain(first)
  expect(along('a', 'd')[1]).not.toBe(between)
  expect(along('b', 'd')[1]).not.toBe(between)
  expect(notes).toEqual([
    "only hosts' own links are shared: on 2 ways of links within, from 5 Mbit/s on, each pair that uses them had the whole bandwidth; hops: 'each' shares these too",
  ])
})

test('hop by hop, ways share the pipes of all their common links', () => {
  const { along, notes } = wire('each')
  expect(along('a', 'd')[1]).toBe(along('b', 'c')[1])
  expect(notes).toEqual([])
})

test('hop by hop, the routers on a way are known, and the pipes by which their answers return', () => {
  const { hops, routes, pipes } = planOf(nodes, { topology: dumbbell, hops: 'each', seed: 1 })
  const index = routes.findIndex(({ from, to }) => from === 0 && to === 2)
  expect(hops![index]!.map(({ address, back }) => [address, pipes[back!]!.delayMs])).toEqual([
    ['100.64.0.0', 1],
    ['100.64.0.1', 20],
  ])
  const there = routes[index]!.pipes
  expect(hops![index]!.map(({ back }) => back).some(back => there.includes(back!))).toBe(false)
  expect(planOf(nodes, { topology: dumbbell, hops: 'collapsed', seed: 1 }).hops).toBeUndefined()
})

test('what has no bandwidth within needs no word', () => {
  const links = dumbbell.links.map(({ bandwidth, ...link }) =>
    link.class === 'stub-stub' ? link : { ...link, bandwidth: bandwidth! },
  )
  expect(wire('collapsed', { ...dumbbell, links }).notes).toEqual([])
})
