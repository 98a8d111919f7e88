import { expect, test } from 'vitest'
import { HeldAgain } from '../../../checker/cells/held-again.ts'

/** Each state: whether the property holds, and the nodes that are down. */
const seen = (states: readonly (readonly [holds: boolean, ...down: string[]])[], from = new HeldAgain()) => {
  for (const [holds, ...down] of states) from.see('free', holds, () => down)
  return from
}

test('a property that was never false did not hold again', () => {
  expect(seen([[true], [true, 'a']]).sights()).toEqual([])
})

test('a node counts as ended if it was up while the property was false and is down when it holds', () => {
  const sights = seen([
    [false],
    [true],
    [false, 'a'],
    [false, 'a', 'b'],
    [true, 'a', 'b'],
    [false, 'b'],
    [true, 'b'],
  ]).sights()
  expect(Object.fromEntries(sights.map(({ what, count }) => [what, count]))).toEqual({
    'free was false': 1,
    'free held again': 3,
    'free held again after the end of a node': 1,
    'free held again after the end of b': 1,
  })
})

test('an execution that continues from a mark counts what was before it, and leaves the mark as it was', () => {
  const mark = seen([[false], [true], [false]]).mark()
  const whole = [[false], [true], [false], [true, 'a']] as const
  for (let times = 0; times < 2; times++)
    expect(seen([[true, 'a']], new HeldAgain(mark)).sights()).toEqual(seen(whole).sights())
})
