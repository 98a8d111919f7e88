import { expect, test } from 'vitest'
import { addNotes, countUpTo, notRewound, sayNotes, uncounted } from '../../../harness/config/notes.ts'
import { CannotRewind } from '../../../harness/rewind/calls/error.ts'

const held = 'n1: broadcast is not carried'
const started = notRewound('n1', 'it has semaphores')

test('a sentence of several workers is printed once, with its count', () => {
  const notes = addNotes([
    new Map([
      [held, uncounted],
      [started, 2],
    ]),
    new Map([
      [started, 3],
      [held, uncounted],
    ]),
  ])
  expect(sayNotes(notes)).toEqual([held, `${started} (5 times)`])
})

test('reasons beyond the first few are not told, and those are counted on', () => {
  const counts = new Map<string, number>()
  for (const reason of ['a', 'b', 'c', 'a']) countUpTo(2, counts, reason)
  expect([...counts]).toEqual([
    ['a', 2],
    ['b', 1],
  ])
})

test('reasons that differ in the number of a pipe are one reason', () => {
  expect(new CannotRewind('descriptor 0 (pipe:[18195802]) has something to read').message).toBe(
    'descriptor 0 (a pipe) has something to read',
  )
})
