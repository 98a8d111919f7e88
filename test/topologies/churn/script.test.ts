import { describe, expect, it, test } from 'vitest'
import { planChurn } from '../../../topologies/churn/model.ts'
import { mergePlans, readPlan } from '../../../topologies/churn/plan.ts'
import { readHappening, readScript } from '../../../topologies/churn/script.ts'

const nodes = ['n1', 'n2', 'n3']
const read = (text: string) => readScript(text, nodes, ['n1', 'n2'])

describe('script', () => {
  it('has joins, leaves, partitions and heals, in any order of lines', () => {
    const { events } = read(`
      # a trace
      5m    heal
      3m    partition n1,n2 n3
      90s   leave n1 kill   # and hard
      1.5   join n3
      0.5h  leave n2
      250ms leave n2 cut
      1s    join n2
      2s    clock n2 -1.5h`)
    expect(events).toEqual([
      { atMs: 250, does: 'leave', node: 'n2', manner: 'cut' },
      { atMs: 1000, does: 'join', node: 'n2' },
      { atMs: 1500, does: 'join', node: 'n3' },
      { atMs: 2000, does: 'clock', node: 'n2', byMs: -5_400_000 },
      { atMs: 90_000, does: 'leave', node: 'n1', manner: 'kill' },
      { atMs: 180_000, does: 'partition', groups: [['n1', 'n2'], ['n3']] },
      { atMs: 300_000, does: 'heal' },
      { atMs: 1_800_000, does: 'leave', node: 'n2', manner: 'stop' },
    ])
  })

  it.each([
    ['soon join n3', 'line 1: expected a time such as 90s or 3m, found "soon"'],
    ['\n-1s heal', 'line 2: expected a time such as 90s or 3m, found "-1s"'],
    ['1s crash n1', /^line 1: expected "join NODE", .* or "split NODE at half", found "crash n1"$/],
    ['1s', /^line 1: expected "join NODE", /],
    ['1s join', /^line 1: expected "join NODE", .* found "join"$/],
    ['1s leave n1 softly', 'line 1: expected to leave by stop, kill, cut, power, found "softly"'],
    ['1s clock n1 1h', 'line 1: expected how far the clock jumps, such as +1h or -2s, found "1h"'],
    ['1s join n1', 'events[0]: "n1" cannot join, it is there'],
    ['1s leave n3', 'events[0]: "n3" cannot leave, it is away'],
    ['1s partition n1,n9', 'events[0]: there is no node "n9"'],
  ])('%j', (text, message) => expect(() => read(text)).toThrow(message))
})

describe('a line without a time', () => {
  it.each([
    ['partition n1,n2 n3', { does: 'partition', groups: [['n1', 'n2'], ['n3']] }],
    ['leave n1', { does: 'leave', node: 'n1', manner: 'stop' }],
    ['reboot n2', { does: 'reboot', node: 'n2' }],
    ['reset n1 n2', { does: 'reset', node: 'n1', peer: 'n2' }],
  ])('%s', (line, happening) => expect(readHappening(line)).toEqual(happening))

  it('is refused with the forms', () =>
    expect(() => readHappening('crash n1')).toThrow(
      /^the line: expected "join NODE", .*"reset NODE PEER".*"crash n1"$/,
    ))
})

describe('plan', () => {
  it('is read again from its JSON as it was written', () => {
    const setting = { nodes, initial: 2, forMs: 3_600_000, manners: ['kill'], seed: 3 } as const
    const random = planChurn(setting, { kind: 'poisson', joinsPerMinute: 1, leavesPerMinute: 1 })
    const script = read('3m partition n1 n2,n3\n5m heal')
    for (const plan of [random, script]) expect(readPlan(JSON.stringify(plan))).toEqual(plan)
  })

  it.each([
    ['{', /^line 1: expected JSON/],
    ['{"nodes":[]}', 'initial: expected a list of nodes, found nothing'],
    [
      '{"nodes":["a"],"initial":[],"events":[{"atMs":-1,"does":"join","node":"a"}]}',
      'events[0].atMs: expected milliseconds of at least 0, found -1',
    ],
    [
      '{"nodes":["a"],"initial":["a"],"events":[{"atMs":1,"does":"leave","node":"a","manner":"rm"}]}',
      'events[0].manner: expected stop, kill, cut or power, found "rm"',
    ],
    [
      '{"nodes":["a"],"initial":[],"events":[{"atMs":1,"does":"jump"}]}',
      'events[0].does: expected an event that does join, leave, partition, heal, pause, resume, clock, name, disk, preempt, calls or split',
    ],
    [
      '{"nodes":["a"],"initial":[],"events":[{"atMs":2,"does":"heal"},{"atMs":1,"does":"heal"}]}',
      'events[1]: expected events in the order of time',
    ],
  ])('%j', (json, message) => expect(() => readPlan(json)).toThrow(message))
})

test('plans are merged in the order of time, where they agree', () => {
  const merged = mergePlans(read('3m partition n1 n2\n5m heal'), read('4m leave n1 kill'))
  expect(merged.events.map(({ does }) => does)).toEqual(['partition', 'leave', 'heal'])
  expect(() => mergePlans(read('1s leave n1'), read('2s leave n1'))).toThrow('events[1]: "n1" cannot leave, it is away')
})
