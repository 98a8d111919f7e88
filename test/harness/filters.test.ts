import { expect, test } from 'vitest'
import { Filters, preventableOn, saidOf } from '../../harness/steering/filters.ts'
import { Preventions } from '../../harness/steering/repeated.ts'

const filterOf = (label: string) => ({ said: saidOf(label), label, against: 'safety p' })

test('filters are on from their time until those of the next round are', () => {
  const filters = new Filters(() => undefined)
  filters.put([filterOf('a→b #3 vote term=2')], 3000)
  filters.put([filterOf('a→b #9 vote term=3')], 13_000)
  const against = (label: string, atMs: number) => filters.against(label, atMs)?.label
  expect(against('a→b #3 vote term=2', 2999)).toBeUndefined()
  expect(against('a→b #4 vote term=2', 3000)).toBe('a→b #3 vote term=2')
  expect(against('a→b #4 vote term=3', 3001)).toBeUndefined()
  expect(against('b→a #4 vote term=2', 3002)).toBeUndefined()
  expect(against('a→b #4 vote term=2', 13_000)).toBeUndefined()
  expect(against('a→b #4 vote term=3', 13_001)).toBe('a→b #9 vote term=3')
})

test('what was prevented three rounds running is given up, until a round does not ask for it', () => {
  const givenUp: string[] = []
  const filters = new Filters(({ label }) => givenUp.push(label))
  const [often, never] = [filterOf('a→b #1 x'), filterOf('a→b #1 y')]
  for (let round = 0; round < 6; round++) {
    filters.put([often, never], round * 10)
    const filter = filters.against('a→b #1 x', round * 10)
    expect(filter?.label).toBe(round < 3 ? 'a→b #1 x' : undefined)
    if (filter) filters.hasPrevented(filter)
    expect(filters.against('a→b #1 y', round * 10)?.label).toBe('a→b #1 y')
  }
  expect(givenUp).toEqual(['a→b #1 x'])
  filters.put([], 70)
  filters.put([often], 80)
  expect(filters.against('a→b #1 x', 80)?.label).toBe('a→b #1 x')
})

test('a timer is put off three times while a filter is on', () => {
  const filters = new Filters(() => undefined)
  filters.put([filterOf('a timer +200ms')], 0)
  for (let times = 0; times < 4; times++) {
    const filter = filters.against('a timer +200ms', times)
    expect(filter !== undefined).toBe(times < 3)
    if (filter) filters.hasPrevented(filter)
  }
})

test('faults, and what opens or ends connections, are not prevented', () => {
  const labels = [
    'drop a→b #1 x',
    'a→b #2 open :80',
    'a→b #3 GET /',
    'b timer +5ms',
    'reset b',
    'client ann',
    'a→b #4 close :80',
  ]
  expect(preventableOn(labels)).toEqual(['a→b #3 GET /', 'b timer +5ms', 'client ann'])
})

test('a note says what was kept from happening ten times or more, whatever the ordinals of its messages', () => {
  const repeated = new Preventions()
  const prevent = (times: number) => {
    for (let time = 0; time < times; time++) repeated.see(`n1→n2 #${3 + time} grant`)
  }
  prevent(9)
  repeated.see('n1→n3 #3 grant')
  expect(repeated.notes).toEqual([])
  prevent(2)
  expect(repeated.notes).toEqual([
    '11 steps like n1→n2 #3 grant were kept from happening: what needs them gets nowhere',
  ])
})
