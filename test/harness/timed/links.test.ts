import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LinkChange, Links } from '../../../harness/timed/links.ts'
import { planOf } from '../../../harness/timed/wiring.ts'
import { PacketPipe } from '../../../proxy/forwarding/pipe.ts'
import type { Topology } from '../../../topologies/topology.ts'

/** Two stubs with a narrow link between, and two machines at each; that of `d` has no limit. */
const dumbbell: Topology = {
  nodes: [
    { id: 'left', role: 'stub' },
    { id: 'right', role: 'stub' },
    ...['a', 'b', 'c', 'd'].map(id => ({ id, role: 'client' as const })),
  ],
  links: [
    { from: 'left', to: 'right', class: 'stub-stub', delayMs: 20, bandwidth: 5e6, loss: 0.1 },
    ...['a', 'b'].map(to => ({ from: 'left', to, class: 'client-stub' as const, delayMs: 1, bandwidth: 1e6 })),
    { from: 'right', to: 'c', class: 'client-stub', delayMs: 2, bandwidth: 2e6 },
    { from: 'right', to: 'd', class: 'client-stub', delayMs: 2 },
  ],
}
const names = ['a', 'b', 'c', 'd']
const nodes = names.map(name => ({ name, address: name }))

const wire = (hops: 'collapsed' | 'each') => {
  const { pipes, routes, links } = planOf(nodes, { topology: dumbbell, hops, seed: 1 })
  const now = [...pipes]
  const open = new Links(links!, routes)
  /** What a change comes to: the ways that are broken, or whole again, by their names. */
  const change = (what: LinkChange) => {
    const { pipes: changed, ways } = open.change(what)
    for (const { pipe, settings } of changed) now[pipe] = settings
    return ways.map(({ from, to, isBroken }) => `${names[from]}${names[to]} ${isBroken ? 'down' : 'up'}`)
  }
  const delay = (from: string, to: string) =>
    routes
      .find(route => route.from === names.indexOf(from) && route.to === names.indexOf(to))!
      .pipes.reduce((sum, pipe) => sum + now[pipe]!.delayMs, 0)
  return { open, pipes, now, change, delay }
}

test.each(['collapsed', 'each'] as const)(
  '%s: a link that changes does so for all that pass it, and for nobody else',
  hops => {
    const { change, delay } = wire(hops)
    change({ link: ['right', 'left'], delayMs: 120 })
    expect(delay('a', 'c')).toBe(123)
    expect(delay('d', 'b')).toBe(123)
    expect(delay('a', 'b')).toBe(2)
    change({ link: 'a', delayMs: 11 })
    expect(delay('a', 'c')).toBe(133)
    expect(delay('b', 'a')).toBe(12)
    expect(delay('b', 'c')).toBe(123)
  },
)

test('changes of a link add up until it is as it was, by whatever ends it is named', () => {
  const { open, change } = wire('each')
  expect(open.changes).toEqual([])
  change({ link: ['left', 'right'], delayMs: 80 })
  change({ link: ['right', 'left'], isDown: true })
  change({ link: 'a', loss: 0.5 })
  expect(open.changes).toEqual([
    { link: ['right', 'left'], isDown: true, delayMs: 80 },
    { link: 'a', loss: 0.5 },
  ])
  expect(open.copy().changes).toEqual(open.changes)
  change({ link: ['left', 'right'], isDown: false })
  change({ link: 'a', asBefore: true })
  expect(open.changes).toEqual([{ link: ['left', 'right'], delayMs: 80 }])
  change({ link: ['left', 'right'], asBefore: true, isDown: true })
  expect(open.changes).toEqual([{ link: ['left', 'right'], isDown: true }])
  change({ link: ['left', 'right'], isDown: false })
  expect(open.changes).toEqual([])
})

test('a link that is down breaks the ways over it, both directions, until it is up again', () => {
  const { change } = wire('each')
  const over = ['ac', 'ad', 'bc', 'bd', 'ca', 'cb', 'da', 'db']
  expect(change({ link: ['left', 'right'], isDown: true }).sort()).toEqual(over.map(way => `${way} down`))
  expect(change({ link: 'c', isDown: true })).toContain('dc down')
  // Those of `c` are broken twice.
  expect(change({ link: ['left', 'right'], isDown: false }).filter(way => way.endsWith('down'))).toEqual([
    'ac down',
    'bc down',
    'ca down',
    'cb down',
  ])
  expect(change({ link: 'c', asBefore: true }).every(way => way.endsWith('up'))).toBe(true)
})

const changes = fc.record(
  {
    link: fc.constantFrom<LinkChange['link']>('a', 'b', 'c', ['left', 'right'], ['c', 'right']),
    delayMs: fc.integer({ min: 0, max: 500 }),
    bandwidth: fc.integer({ min: 1, max: 1e9 }),
    loss: fc.double({ min: 0, max: 1, noNaN: true }),
    isDown: fc.boolean(),
  },
  { requiredKeys: ['link'] },
)

test('asBefore restores a link, whatever was changed', () => {
  fc.assert(
    fc.property(fc.constantFrom('collapsed' as const, 'each' as const), fc.array(changes), (hops, made) => {
      const { change, now, pipes } = wire(hops)
      const all: LinkChange['link'][] = ['a', 'b', 'c', 'd', ['left', 'right']]
      const once = all.map(link => change({ link, asBefore: true }))
      const before = [...now]
      // What a change makes of pipes says the same of packets as what was planned.
      for (const [index, { delayMs, bandwidth, loss = 0 }] of pipes.entries()) {
        expect(now[index]).toMatchObject({ delayMs, ...(bandwidth !== undefined && { bandwidth }) })
        expect(now[index]!.loss).toBeCloseTo(loss)
      }
      for (const each of made) change(each)
      for (const link of all) change({ link, asBefore: true })
      expect(now).toEqual(before)
      expect(all.map(link => change({ link, asBefore: true }))).toEqual(once)
    }),
  )
})

test.each<[string, LinkChange, RegExp]>([
  ['a router has no link of its own', { link: 'left', delayMs: 1 }, /no node left has a link of its own/],
  ['a link that is not there', { link: ['a', 'c'], delayMs: 1 }, /no packet passes a link a–c/],
  [
    'cross traffic for a link without a limit',
    { link: 'd', cross: { bandwidth: 1000 } },
    /link d has bandwidth without limit, of which cross/,
  ],
  ['a limit for a link without one', { link: 'd', bandwidth: 1000 }, /link d has bandwidth without limit/],
])('%s is refused', (_, change, message) => {
  expect(() => wire('each').change(change)).toThrow(message)
})

test('a pipe that changes lets out what it has taken in as it would have, and then the others, in order', () => {
  const pipe = new PacketPipe({ delayMs: 10, bandwidth: 8000, queue: { packets: 3 } }, () => 0.5)
  expect([pipe.enter(0, 1), pipe.enter(0, 1)]).toEqual([11, 12])
  pipe.change({ delayMs: 0, bandwidth: 8000, queue: { packets: 1 } }, 0)
  // One is sent at 1 ms, one waits, and there is no room for another until the first has been sent.
  expect(pipe.enter(0.5, 1)).toBe(-2)
  expect(pipe.enter(1.5, 1)).toBeCloseTo(12)
  expect(pipe.enter(12, 1)).toBe(13)
  pipe.change({ delayMs: 100, bandwidth: 8000, queue: { packets: 5 } }, 12)
  expect(pipe.enter(13, 1)).toBe(114)
})

test.each([
  [
    'each',
    ['a→left', 'b→left', 'c→right', 'd→right', 'left→a', 'left→b', 'left→right', 'right→c', 'right→d', 'right→left'],
  ],
  ['collapsed', ['a→left', 'b→left', 'c→right', 'left→a', 'left→b', 'right→c']],
] as const)('%s: what links carry is told of those that all share who pass them', (hops, shared) => {
  const { open, pipes, change } = wire(hops)
  change({ link: 'a', bandwidth: 3e6 })
  const totals = open.carried(pipes.map((_, index) => index + 1))
  expect(totals.map(({ from, to }) => `${from}→${to}`).sort()).toEqual(shared)
  expect(new Set(totals.map(({ bytes }) => bytes)).size).toBe(shared.length)
  expect(Object.fromEntries(totals.map(({ from, bandwidth }) => [from, bandwidth]))).toMatchObject({
    a: 3e6,
    b: 1e6,
    c: 2e6,
  })
})
