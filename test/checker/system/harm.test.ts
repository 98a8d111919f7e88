import { expect, test } from 'vitest'
import { milderThan } from '../../../checker/system/harm.ts'
import { readLabel } from '../../../checker/system/labels.ts'
import type { Choice } from '../../../checker/system/system.ts'

const choiceOf = (label: string): Choice => {
  const { kind, node = '', subject, numbers } = readLabel(label)
  return { kind: kind!, node, label, subject, numbers }
}

const milder = (label: string, ...enabled: readonly string[]): string[] =>
  milderThan(choiceOf(label), [label, ...enabled].map(choiceOf)).map(each => each.label)

const powers = [
  'power n keeps 3 of 3',
  'power n keeps 2 of 3, without 2 write log',
  'power n keeps 2 of 3, not write log',
  'power n keeps 1 of 3, not rename a b',
  'power n keeps 0 of 3',
  'power n keeps 3 of 3, write log torn',
  'power n before sync or message 1 keeps all',
  'power n before sync or message 2 keeps all',
  'power n before sync or message 1 keeps none',
  'power n before sync or message 1 keeps a torn end',
]

test('a power failure is milder the less is lost, and at rest rather than within a step', () => {
  for (const [place, label] of powers.entries())
    expect(milder(label, ...powers.toReversed())).toEqual(powers.slice(0, place))
})

test('who tells its peers is milder than who is silent, and that than a lost disk', () => {
  const all = ['power n', 'crash n silently', 'crash n', 'crash m', 'reset n']
  expect(milder('power n keeps 0 of 1', ...all)).toEqual(['crash n', 'crash n silently', 'power n'])
  expect(milder('crash n silently', ...all)).toEqual(['crash n'])
  expect(milder('crash n', ...all)).toEqual([])
  expect(milder('reset n silently', ...all)).toEqual(['reset n'])
  expect(milder('reset a→b connection 1 :80', ...all)).toEqual([])
})

test('a disk that may do so is milder than one that fails, and that than one that lies', () => {
  const all = [
    ...['disk n takes half of write 1', 'disk n takes half of write 2', 'disk n is full from write 3'],
    ...['disk n is full from write 1', 'disk n fails at sync 1', 'disk n fails at sync 2', 'disk n loses write 1'],
    ...['disk n misdirects write 1', 'disk n rots write 1'],
  ]
  for (const [place, label] of all.entries())
    expect(milder(label, ...all.toReversed(), 'disk m takes half of write 1')).toEqual(all.slice(0, place))
})

test('a wait that ends early is milder than a call that does less, and that than one that fails', () => {
  const all = [
    ...['calls n interrupted wait 1', 'calls n interrupted wait 2', 'calls n vain wake-up 1', 'calls n short read 1'],
    ...['calls n short write 1', 'calls n no descriptor 1', 'calls n no descriptor 3'],
  ]
  for (const [place, label] of all.entries())
    expect(milder(label, ...all.toReversed(), 'calls m interrupted wait 1')).toEqual(all.slice(0, place))
})

test('a cut is milder if it takes fewer ways, and no others', () => {
  const all = ['cut a→b', 'cut b→a', 'cut a→b c', 'partition a | b', 'partition a | b c', 'cut c→b']
  expect(milder('partition a | b', ...all)).toEqual(['cut a→b', 'cut b→a'])
  expect(milder('partition a | b c', ...all)).toEqual(['cut a→b', 'cut b→a', 'cut a→b c', 'partition a | b'])
  expect(milder('cut a→b c', ...all)).toEqual(['cut a→b'])
  expect(milder('cut c→b', ...all)).toEqual([])
})

test('what is no fault, or has no milder one, stays', () => {
  expect(milder('a→b #1 x', ...powers)).toEqual([])
  expect(milder('drop a→b #1 x', 'duplicate a→b #1 x')).toEqual([])
})
