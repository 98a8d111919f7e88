import { expect, onTestFinished, test, vi } from 'vitest'
import { firstSecond, instantOf, Periods } from '../../harness/hold/periods.ts'

test('what was stamped in the first millisecond of a second is shown by the clock of the node', () => {
  const periods = new Periods([0, 5])
  const now = vi.spyOn(Date, 'now').mockReturnValue((firstSecond + 10) * 1000)
  onTestFinished(() => now.mockRestore())
  expect(periods.shownAt(instantOf(firstSecond + 10, 9500))).toBe(5)
  // A program may set a time in the future.
  expect(periods.shownAt(instantOf(firstSecond + 12, 0))).toBe(undefined)
})
