import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runsOf } from '../../report/model/runs.ts'

test('three times in a row is a run, twice is not', () => {
  expect(runsOf(['a', 'a', 'b', 'b', 'b', 'a'])).toEqual([
    { label: 'a', from: 1, to: 1 },
    { label: 'a', from: 2, to: 2 },
    { label: 'b', from: 3, to: 5 },
    { label: 'a', from: 6, to: 6 },
  ])
})

test('runs are the schedule', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b')), schedule => {
      const unfolded = runsOf(schedule).flatMap(({ label, from, to }) => Array(to - from + 1).fill(label))
      expect(unfolded).toEqual(schedule)
    }),
  )
})
