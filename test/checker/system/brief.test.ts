import fc from 'fast-check'
import { expect, test } from 'vitest'
import { counted, shownApart, shownList } from '../../../checker/system/brief.ts'
import { Diverged } from '../../../checker/system/errors.ts'

test('two long texts are cut to their beginning and to the place where they differ', () => {
  const [head, body] = ['"a→b #3 INFO"', 'x'.repeat(6000)]
  const [was, is] = shownApart(`${head} ${body}1${body}`, `${head} ${body}2${body}`)
  expect(was).toBe(`${head} ${'x'.repeat(66)} … ${'x'.repeat(40)}1${'x'.repeat(99)}…`)
  expect(is).toBe(was.replace('1', '2'))
  expect(shownApart('a timer in 5 ms', 'a timer in 7 ms')).toEqual(['a timer in 5 ms', 'a timer in 7 ms'])
})

test('what is shown of two different texts is short and different', () => {
  const text = fc.string({ maxLength: 400 })
  fc.assert(
    fc.property(text, text, text, (same, one, other) => {
      const [was, is] = shownApart(same + one, same + other)
      expect(Math.max(was.length, is.length)).toBeLessThanOrEqual(230)
      if (one !== other) expect(was).not.toBe(is)
    }),
  )
})

test('a list is shown by its first items', () => {
  expect(shownList(['a', 'b'])).toBe('a, b')
  expect(shownList(['a', 'b', 'c'], 2)).toBe('a, b and 1 more')
  const enabled = Array.from({ length: 500 }, (_, index) => `n${index} timer +5ms`)
  expect(new Diverged(3, 'n1→n2 #1 vote', enabled).message).toBe(
    'diverged at step 3: expected "n1→n2 #1 vote", but enabled are "n0 timer +5ms", "n1 timer +5ms", "n2 timer +5ms", ' +
      '"n3 timer +5ms", "n4 timer +5ms" and 495 more',
  )
})

test('one of a thing is told as one', () => {
  expect([0, 1, 2].map(count => counted(count, 'step'))).toEqual(['0 steps', '1 step', '2 steps'])
})
