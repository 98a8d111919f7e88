import { expect, test } from 'vitest'
import { waitedForCpu, watchCpus } from '../../../cli/emulate/cpu-pressure.ts'

/** Ten seconds, of which programs waited for some. */
const after = (waitedMs: number | undefined) => {
  const waits = [1000, waitedMs === undefined ? undefined : 1000 + waitedMs]
  const times = [5000, 15_000]
  return watchCpus(
    () => waits.shift(),
    () => times.shift()!,
  )()
}

test('a run in which programs waited for a CPU says that its figures are not to be trusted', () => {
  expect(after(2000)).toEqual([])
  expect(after(4321)).toEqual([
    'in 43 % of the time, programs waited for a CPU, so nodes computed for longer than they would alone: the figures of time are not to be trusted',
  ])
  expect(after(undefined)).toEqual([expect.stringContaining('is not known')])
})

test('the kernel’s count of waits never falls', () => {
  const first = waitedForCpu()
  const second = waitedForCpu()
  expect(second === undefined || second >= first!).toBe(true)
})
