import { describe, expect, it } from 'vitest'
import { generate } from '../../topologies/generate/generate.ts'
import { type Places, place } from '../../topologies/place.ts'
import type { Topology } from '../../topologies/topology.ts'

const internet = generate('transit-stub', 100, 1)
const roleOf = new Map(internet.nodes.map(({ id, role }) => [id, role]))
const names = Array.from({ length: 10 }, (_, index) => `n${index + 1}`)

/** Where each of the names is. */
const placed = (places: Places, topology: Topology = internet, seed = 1): Record<string, string> => {
  const { links } = place(topology, names, seed, places)
  return Object.fromEntries(links.slice(topology.links.length).map(({ from, to }) => [to, from]))
}

describe('places of nodes', () => {
  it('are random by default, and the same for the same seed', () => {
    expect(placed({})).toEqual(placed({}))
    expect(placed({})).not.toEqual(placed({}, internet, 2))
    expect(new Set(Object.values(placed({}))).size).toBe(names.length)
  })

  it('are a node of the topology, one of a role, or a stub behind one', () => {
    const [, transit] = internet.nodes.filter(({ role }) => role === 'transit')
    const behind = internet.links.find(({ from, to }) => roleOf.get(from) === 'transit' && roleOf.get(to) === 'stub')!
    const at = placed({
      n1: `router ${transit!.id}`,
      n2: `router ${transit!.id}`,
      n3: 'transit',
      n4: 'stub',
      n5: `client of AS ${behind.from}`,
    })
    expect([at.n1, at.n2]).toEqual([transit!.id, transit!.id])
    expect(roleOf.get(at.n3!)).toBe('transit')
    expect(at.n3).not.toBe(transit!.id)
    expect(roleOf.get(at.n4!)).toBe('stub')
    expect(roleOf.get(at.n5!)).toBe('stub')
    expect(internet.links.some(({ from, to }) => from === behind.from && to === at.n5)).toBe(true)
    // Nobody else is where somebody was to be.
    expect(new Set(Object.values(at)).size).toBe(names.length - 1)
  })

  it('are stubs first, then transits, and then evenly those that have one', () => {
    const few: Topology = {
      nodes: [
        { id: 's1', role: 'stub' },
        { id: 's2', role: 'stub' },
        { id: 't', role: 'transit' },
      ],
      links: [],
    }
    const at = Object.values(placed({}, few))
    expect(at).toHaveLength(names.length)
    expect(new Set(at.slice(0, 2))).toEqual(new Set(['s1', 's2']))
    expect(at[2]).toBe('t')
    const counts = few.nodes.map(({ id }) => at.filter(each => each === id).length)
    expect(counts.sort()).toEqual([3, 3, 4])
  })

  it.each([
    ['router 4711', 'cannot place "n1" at router 4711: the topology has no node "4711"'],
    ['client of AS 4711', 'cannot place "n1" at client of AS 4711: the topology has no node "4711"'],
    ['client of AS s1', 'cannot place "n1" at client of AS s1: there is no stub linked to it that is free'],
    ['transit', 'cannot place "n1" at transit: there is no transit that is free'],
  ])('%s, where there is none', (wanted, message) => {
    const two: Topology = {
      nodes: [
        { id: 's1', role: 'stub' },
        { id: 'left', role: 'client' },
      ],
      links: [],
    }
    expect(() => place(two, ['n1'], 1, { n1: wanted })).toThrow(message)
  })
})
