import { expect, test, vi } from 'vitest'
import { Courtesy, shareMax, shareVariable } from '../../../harness/hold/turns/courtesy.ts'

test('others have the CPU every ten milliseconds, and no more than what is left of the share', () => {
  const courtesy = new Courtesy(0.75)
  expect(courtesy.isDueAt(0)).toBe(true)
  courtesy.hasGivenWay(0, 1)
  expect([courtesy.isDueAt(10.9), courtesy.isDueAt(11)]).toEqual([false, true])
  courtesy.hasGivenWay(11, 31)
  expect([courtesy.isDueAt(90), courtesy.isDueAt(91)]).toEqual([false, true])
})

test.each([
  ['0.9', 180],
  ['1', (20 * shareMax) / (1 - shareMax)],
  ['', 20],
  ['many', 20],
])('the share %o is taken from the environment', (text, dueMs) => {
  vi.stubEnv(shareVariable, text)
  const courtesy = new Courtesy()
  courtesy.hasGivenWay(-20, 0)
  expect([courtesy.isDueAt(dueMs - 1), courtesy.isDueAt(dueMs + 1)]).toEqual([false, true])
})
