import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Lesson, learn, lessonsAgain, nothingLearned } from '../../proxy/segment-lengths.ts'

const after = (lessons: readonly Lesson[]) =>
  lessons.reduce((known, { length, isPushed }) => learn(known, length, isPushed), nothingLearned)

test('a new connection learns the same from a few segments', () => {
  const length = fc.oneof(fc.constantFrom(87, 88, 535, 536, 537, 600, 700), fc.integer({ min: 1, max: 65_495 }))
  fc.assert(
    fc.property(fc.array(fc.record({ length, isPushed: fc.boolean() })), lessons => {
      const known = after(lessons)
      const again = lessonsAgain(known)
      expect(after(again)).toEqual(known)
      // An estimate of at most the supposed 536 bytes takes two more.
      expect(again.length).toBeLessThanOrEqual(known.estimated > 0 && known.estimated <= 536 ? 6 : 4)
    }),
  )
})

test('a new connection learns of segments that were longer than others, and shorter than it supposes', () => {
  const known = after([100, 100, 535].map(length => ({ length, isPushed: false })))
  expect(known).toEqual({ estimated: 535, segment: 535, shorter: 0 })
  expect(after(lessonsAgain(known))).toEqual(known)
})

test('a connection estimates by longer segments, and believes in shorter ones when two follow each other', () => {
  const pushed = (...lengths: number[]) => after(lengths.map(length => ({ length, isPushed: true })))
  expect(pushed(100, 536)).toEqual(nothingLearned)
  expect(pushed(700, 600, 600, 1)).toEqual({ estimated: 700, segment: 600, shorter: 0 })
  expect(pushed(700, 600, 1, 600)).toEqual({ estimated: 700, segment: 700, shorter: 600 })
})
