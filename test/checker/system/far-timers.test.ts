import { expect, test } from 'vitest'
import { farLast } from '../../../checker/choosers/far-last.ts'
import { farTimersIn, withoutFarTimers } from '../../../checker/system/far-timers.ts'
import { labelsOf } from '../../../checker/system/labels.ts'
import { Random } from '../../../checker/system/random.ts'
import type { Choice } from '../../../checker/system/system.ts'

const timer = (node: string, afterMs: number): Choice => {
  const label = `${node} timer +${afterMs}ms`
  return { kind: 'timer', node, label, subject: 'timer', numbers: [afterMs], afterMs }
}
const message: Choice = { kind: 'deliver', node: 'n1', label: 'n2→n1 #1 ping', subject: '', numbers: [] }
const crash: Choice = { kind: 'crash', node: 'n1', label: 'crash n1', subject: '', numbers: [] }

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000]

test.each([
  ['a time-out of 10^9 ms beside seconds', [timer('n1', 1e9), timer('n2', 2 * second)], ['n2 timer +2000ms']],
  ['beside a message alone', [timer('n1', 1e9), message], ['n2→n1 #1 ping']],
  ['ten minutes beside 100 ms', [timer('n1', 10 * minute), timer('n2', 100)], 'all'],
  ['hours beside 100 ms', [timer('n1', 23 * hour), timer('n2', 100)], 'all'],
  ['a day beside an hour', [timer('n1', day), timer('n2', hour)], 'all'],
  ['days alone', [timer('n1', 7 * day), timer('n2', 12 * day)], 'all'],
  ['beside a fault alone', [timer('n1', 1e9), crash], 'all'],
] as const)('which timers are far beyond all others: %s', (_, enabled, near) => {
  expect(labelsOf(withoutFarTimers(enabled))).toEqual(near === 'all' ? labelsOf(enabled) : near)
})

test('an overlap with a far timer is as far', () => {
  const joins = [message, timer('n1', 1e9)]
  const overlap: Choice = { kind: 'overlap', node: 'n1', label: 'overlap', subject: '', numbers: [], joins }
  expect(withoutFarTimers([overlap, message])).toEqual([message])
})

test('a far timer is seldom chosen while something else can happen, and not never', () => {
  const random = new Random(1)
  const choose = farLast(random, enabled => random.pick(enabled))
  const enabled = [timer('n1', 1e9), message]
  const far = Array.from({ length: 10_000 }, () => choose(enabled)!).filter(({ kind }) => kind === 'timer').length
  expect(far).toBeGreaterThan(20)
  expect(far).toBeLessThan(300)
  expect(choose([timer('n1', 1e9)])?.kind).toBe('timer')
})

test('a schedule says which far timers it needs', () => {
  const labels = ['n1 timer +2000ms', 'n2→n1 #1 ping', 'overlap n2→n1 #2 ping & n1 timer +1000000000ms']
  expect(farTimersIn(labels)).toEqual(['a timer of 11.6 days of n1'])
  expect(farTimersIn(['n1 timer +100ms', 'n2 timer +600000ms'])).toEqual([])
  expect(farTimersIn(['n1 timer +3600000ms', 'n2 timer +86400000ms'])).toEqual([])
})
