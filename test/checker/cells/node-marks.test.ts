import { expect, test } from 'vitest'
import { NodeMarks } from '../../../checker/cells/node-marks.ts'
import type { NodeMark, NodeSight } from '../../../checker/system/node-system.ts'

const megabyte = 1 << 20
const sight = {} as NodeSight

/** Marks of one life, and those that were discarded, by name. */
const marksOf = (bytes: number) => {
  const discarded: string[] = []
  const made = new Map<string, { isLost: boolean }>()
  const marks = new NodeMarks()
  const add = (name: string) => {
    const mark: NodeMark & { isLost: boolean } = {
      isLost: false,
      life: 'only',
      bytes,
      discard: () => discarded.push(name),
    }
    made.set(name, mark)
    marks.add(name, 'n1', name, { mark, sight })
  }
  return { marks, add, discarded, lose: (name: string) => (made.get(name)!.isLost = true) }
}

test('marks of at most 256 MB are kept, those that were used last', () => {
  const { marks, add, discarded } = marksOf(100 * megabyte)
  add('a')
  add('b')
  marks.get('a')
  add('c')
  expect(discarded).toEqual(['b'])
  expect(['a', 'b', 'c'].map(name => marks.has(name))).toEqual([true, false, true])
})

test('lost marks go first', () => {
  const { add, discarded, lose } = marksOf(100 * megabyte)
  add('a')
  add('b')
  lose('b')
  add('c')
  expect(discarded).toEqual(['b'])
})

test('one mark is kept, whatever it takes', () => {
  const { marks, add } = marksOf(300 * megabyte)
  add('a')
  add('b')
  expect([marks.has('a'), marks.has('b')]).toEqual([false, true])
})

test('at most 400 marks are kept', () => {
  const { add, discarded } = marksOf(1)
  for (let index = 0; index < 402; index++) add(`${index}`)
  expect(discarded).toEqual(['0', '1'])
})
