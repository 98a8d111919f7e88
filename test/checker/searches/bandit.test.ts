import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { Bandit } from '../../../checker/searches/bandit.ts'
import type { SearchCoverage, SearchName } from '../../../checker/searches/search.ts'
import { always } from '../../../checker/system/property.ts'
import { Model, type Transition } from '../systems/model.ts'

const coverage = (name: SearchName, steps: number, states: number): SearchCoverage => ({
  name,
  executions: 0,
  steps,
  states,
  longest: 0,
})

/** Gives turns to the best, each of ten steps of which so many lead to new states. */
const turnsOf = (turns: number, pays: (name: SearchName, turn: number) => number): SearchName[] => {
  const bandit = new Bandit(['race', 'weighted', 'priority'])
  return Array.from({ length: turns }, (_, turn) => {
    const name = bandit.best()
    bandit.learn(coverage(name, 0, 0), coverage(name, 10, pays(name, turn)))
    return name
  })
}

const count = (names: readonly SearchName[], wanted: SearchName) => names.filter(name => name === wanted).length

test('the most productive search has most turns, and each has some', () => {
  const turns = turnsOf(100, name => (name === 'weighted' ? 8 : 2))
  expect(count(turns, 'weighted')).toBeGreaterThan(60)
  expect(count(turns, 'race')).toBeGreaterThan(1)
  expect(count(turns, 'priority')).toBeGreaterThan(1)
})

test('if another search becomes the most productive, it has most turns from then on', () => {
  const turns = turnsOf(200, (name, turn) => (name === (turn < 100 ? 'race' : 'priority') ? 8 : 1))
  expect(count(turns.slice(150), 'priority')).toBeGreaterThan(30)
})

test('if no search is productive, for example without fingerprints, all have as many turns', () => {
  const turns = turnsOf(90, () => 0)
  for (const name of ['race', 'weighted', 'priority'] as const) expect(count(turns, name)).toBe(30)
})

/** A long way, of which a walk that begins anew each time hardly ever comes to the end: one of two steps leads back. */
const corridor = new Model<number>(0, (place): Transition<number>[] => [
  { kind: 'deliver', node: 'n', label: 'm→n #1 on', next: () => Math.min(place + 1, 400) },
  { kind: 'timer', node: 'n', label: 'n timer', next: () => Math.max(0, place - 1) },
])

test('a check says of each search how much it looked at: what it was the first to meet adds up', async () => {
  const { coverage, states } = await check(corridor, { fine: always<number>(() => true) }, { executions: 60 })
  const { searches } = coverage
  expect(searches.map(({ name }) => name)).toEqual([
    'straight',
    'race',
    'late',
    'weighted',
    'priority',
    'fruitful',
    'bounded',
    'patient',
    'interrupted',
    'timely',
  ])
  // Nothing can be paused there, and no power fails.
  expect(searches.at(-2)).toMatchObject({ name: 'interrupted', executions: 0 })
  expect(searches.reduce((sum, { executions }) => sum + executions, 0)).toBe(60)
  expect(searches.reduce((sum, each) => sum + each.states, 0)).toBe(states)
})
