import { expect, onTestFinished, test, vi } from 'vitest'
import { firstSecond, instantOf, Periods } from '../../../harness/hold/clock/periods.ts'

test('what was stamped in the first millisecond of a second is shown by the clock of the node', () => {
  const periods = new Periods(Float64Array.of(0, 5))
  const now = vi.spyOn(Date, 'now').mockReturnValue((firstSecond + 10) * 1000)
  onTestFinished(() => now.mockRestore())
  expect(periods.shownAt(instantOf(firstSecond + 10, 9500))).toBe(5)
  // A program may set a time in the future.
  expect(periods.shownAt(instantOf(firstSecond + 12, 0))).toBe(undefined)
})

test('a copy and a mark stay as they were, whatever the clock showed since', () => {
  const latest = instantOf(Math.floor(Date.now() / 1000) + 1, 0)
  const periods = new Periods()
  periods.begin(1)
  const [copy, rewind] = [periods.copy(), periods.mark()]
  periods.begin(2)
  copy.begin(3)
  expect([periods.shownAt(latest), copy.shownAt(latest)]).toEqual([2, 3])
  rewind()
  expect(periods.shownAt(latest)).toBe(1)
  periods.begin(4)
  expect([periods.shownAt(latest), copy.shownAt(latest)]).toEqual([4, 3])
  rewind()
  expect(periods.shownAt(latest)).toBe(1)
})
