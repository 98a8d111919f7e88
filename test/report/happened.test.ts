import { expect, test } from 'vitest'
import { happenedIn, stepSaid, waysPart } from '../../report/model/happened.ts'

const store = {
  property: 'linearizable',
  kind: 'safety',
  message: 'linearizable does not hold after step 4 (n2→n3 #1 ask): no register has these operations',
  schedule: ['client ann', 'n1→n2 #1 ask', 'n2→n1 #1 tell 0', 'n2→n3 #1 ask'],
} as const
const overtaking = { step: 4, label: 'n2→n3 #1 ask', overtaken: 'n1→n3 #2 store 1', since: 3, delivered: null }
const earlier = { step: 2, label: 'n1→n2 #1 ask', overtaken: 'n3→n2 #1 hello', since: 0, delivered: 3 }
const sameText = { step: 3, label: 'n2→n1 #1 tell 0', overtaken: 'n2→n1 #2 tell 0', since: 1, delivered: null }

test('says which message overtook which', () => {
  expect(happenedIn({ ...store, overtakings: [overtaking] })).toBe(
    'n2’s "ask" overtakes n1’s "store 1" on the way to n3 (step 4): sent in step 3, it has not arrived at the end',
  )
})

test('the ways part at the overtaking with which the curve rises most', () => {
  const curve = {
    walks: 10,
    length: 50,
    points: [0, 0, 5, 5, 10].map((bad, step) => ({ step, bad: bad > 5 ? 6 : bad })),
  }
  const told = { ...store, overtakings: [earlier, sameText, overtaking], curve }
  expect(waysPart(told)).toBe(
    'the ways part at step 2, n1→n2 #1 ask: with n3→n2 #1 hello delivered before it, linearizable is not violated',
  )
  expect(happenedIn(told)).toBe(
    'n1’s "ask" overtakes n3’s "hello" on the way to n2 (step 2): sent in the start, it arrives only in step 3; n2’s "ask" overtakes n1’s "store 1" on the way to n3 (step 4): sent in step 3, it has not arrived at the end',
  )
})

test('says what failed, and what came together', () => {
  const schedule = [
    'n1 timer +172ms',
    'overlap n1→n3 #2 vote & n2→n3 #2 vote',
    'crash n1',
    'drop n2→n3 #3 open :7000',
    'client bob',
  ]
  expect(happenedIn({ ...store, schedule, overtakings: [] })).toBe(
    'n1’s "vote" and n2’s "vote" enter n3 together, before it has dealt with either (step 2); a node crashes (step 3, crash n1); a message is dropped (step 4, drop n2→n3 #3 open :7000)',
  )
  expect(schedule.map(stepSaid)).toEqual([
    'n1’s timer of 172ms fires',
    'two inputs enter n3 together: n1→n3 #2 vote & n2→n3 #2 vote',
    'a node crashes: crash n1',
    'a message is dropped: drop n2→n3 #3 open :7000',
    'bob begins a call',
  ])
})

test('a timer that fires too early', () => {
  const early = { ...overtaking, label: 'n3 timer +50ms', overtaken: 'n1→n3 #1 accept :7000' }
  expect(happenedIn({ ...store, overtakings: [early] })).toBe(
    'n3’s timer of 50ms fires before n1’s acceptance of a connection (:7000) reaches n3 (step 4): sent in step 3, it has not arrived at the end',
  )
})

test('nothing overtakes, and nothing is known', () => {
  expect(happenedIn({ ...store, overtakings: [] })).toBe(
    'no message overtakes another, and the check makes nothing fail: the steps are in the order in which each became possible',
  )
  expect(happenedIn(store)).toBeUndefined()
})
