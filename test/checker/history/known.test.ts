import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Model } from '../../../checker/history/model.ts'
import { lock, map, queue, register } from '../../../checker/history/models.ts'
import { linearizable, sequentiallyConsistent } from '../../../checker/history/property.ts'
import { history } from './notation.ts'

const isLinearizable = <State>(text: string, model: Model<State>) =>
  linearizable(model).holds({ history: history(text) })
const isSequential = <State>(text: string, model: Model<State>) =>
  sequentiallyConsistent(model).holds({ history: history(text) })

describe('Herlihy, Wing, TOPLAS 1990, figure 1: histories of a queue', () => {
  test('(a) overlapping enqueues may take effect in either order', () => {
    const h = `
      A enqueue "x"
      B enqueue "y"
      B ok
      B dequeue
      A ok
      A dequeue
      B → "x"
      A → "y"
      A enqueue "z"
      A ok`
    expect(isLinearizable(h, queue())).toBe(true)
  })

  test('(b) what was enqueued first must be dequeued first', () => {
    const h = `
      A enqueue "x"
      A ok
      B enqueue "y"
      B ok
      B dequeue
      B → "y"`
    expect(isLinearizable(h, queue())).toBe(false)
    expect(isSequential(h, queue())).toBe(true)
  })

  test('(c) an enqueue takes effect before it returns', () => {
    const h = `
      A enqueue "x"
      B dequeue
      B → "x"`
    expect(isLinearizable(h, queue())).toBe(true)
  })

  test('(d) nothing is dequeued twice', () => {
    const h = `
      A enqueue "x"
      B enqueue "y"
      A ok
      B ok
      A dequeue
      C dequeue
      A → "y"
      C → "y"`
    expect(isLinearizable(h, queue())).toBe(false)
    expect(isSequential(h, queue())).toBe(false)
  })
})

test('Herlihy, Wing, section 3.3: two queues, each sequentially consistent, together are not', () => {
  const both = `
    A enqueue "x" of p
    A ok
    B enqueue "y" of q
    B ok
    A enqueue "x" of q
    A ok
    B enqueue "y" of p
    B ok
    A dequeue of p
    A → "y"
    B dequeue of q
    B → "x"`
  expect(isSequential(both, queue())).toBe(false)
  for (const key of ['p', 'q']) {
    const ofKey = history(both).filter(operation => operation.key === key)
    expect(sequentiallyConsistent(queue()).holds({ history: ofKey })).toBe(true)
    expect(linearizable(queue()).holds({ history: ofKey })).toBe(false)
  }
})

describe('registers', () => {
  test('MIT 6.824, quiz 2 of 2017, VII: reads that overlap a write may see it or not; a later one may not go back', () => {
    const early = `
      a write 100
      b read
      c read
      c → 0
      b → 100
      a ok`
    expect(isLinearizable(early, register(0))).toBe(true)
    const back = `
      a write 200
      b read
      b → 200
      c read
      c → 0
      a ok`
    expect(isLinearizable(back, register(0))).toBe(false)
    expect(isSequential(back, register(0))).toBe(true)
  })

  test('store buffers: both write and neither sees the other (each register for itself is consistent)', () => {
    const h = `
      a write 1 of x
      b write 1 of y
      a ok
      b ok
      a read of y
      b read of x
      a → 0
      b → 0`
    expect(isSequential(h, register(0))).toBe(false)
  })

  test('independent reads of independent writes must agree on their order', () => {
    const h = (last: number) => `
      a write 1 of x
      b write 1 of y
      c read of x
      c → 1
      d read of y
      d → 1
      c read of y
      c → 0
      d read of x
      d → ${last}`
    expect(isSequential(h(0), register(0))).toBe(false)
    expect(isSequential(h(1), register(0))).toBe(true)
  })

  test('knossos: concurrent with a write, a value that never was', () => {
    const h = `
      0 write 0
      0 ok
      1 read
      2 write 4
      1 → 3
      2 ok
      3 read
      3 → 4`
    expect(isLinearizable(h, register())).toBe(false)
  })

  test('knossos: a write that failed cannot be read, one that may have happened can, however late', () => {
    const h = (end: string) => `
      1 read
      101 write 3
      101 ${end}
      1 → 3`
    expect(isLinearizable(h('failed'), register())).toBe(false)
    expect(isLinearizable(h('?'), register())).toBe(true)
    const late = `
      a write 1
      a ?
      b write 2
      b ok
      b read
      b → 2
      b read
      b → 1`
    expect(isLinearizable(late, register())).toBe(true)
    expect(isLinearizable(`${late}\nb read\nb → 2`, register())).toBe(false)
  })

  test('a compare-and-set that was refused met another value', () => {
    const h = (result: boolean) => `
      a write 1
      a ok
      b cas [1, 2]
      b → ${result}`
    expect(isLinearizable(h(true), register())).toBe(true)
    expect(isLinearizable(h(false), register())).toBe(false)
  })
})

/** Of etcd 0.4, by Jepsen, as the tests of porcupine (MIT licence, A. Athalye) have them with their verdicts. */
describe('histories that Jepsen recorded', () => {
  const etcd = (number: string) => readFileSync(join(import.meta.dirname, `etcd/${number}.txt`), 'utf8')

  test.each(['002', '005', '098'])('history %s of etcd is linearizable', number => {
    expect(isLinearizable(etcd(number), register())).toBe(true)
  })

  test.each(['000', '001', '004'])('history %s of etcd is not linearizable', number => {
    expect(isLinearizable(etcd(number), register())).toBe(false)
  })
})

describe('locks and maps', () => {
  test('two processes do not hold a lock at once, and only its holder releases it', () => {
    const taken = `
      a acquire
      a → true
      b acquire`
    expect(isLinearizable(`${taken}\nb → true`, lock())).toBe(false)
    expect(isLinearizable(`${taken}\nb → false`, lock())).toBe(true)
    expect(isLinearizable(`${taken}\na release\nb → true`, lock())).toBe(true)
    expect(isLinearizable(`${taken}\na release\na → true\nb → false`, lock())).toBe(true)
    expect(isLinearizable('b release\nb → true', lock())).toBe(false)
    expect(isLinearizable('b acquire\nb → false', lock())).toBe(false)
  })

  test('a key that was deleted has no value, and other keys keep theirs', () => {
    const h = (key: string, value: string) => `
      a put 1 of x
      a ok
      a put 1 of y
      a ok
      a delete of x
      a ok
      b get of ${key}
      b → ${value}`
    expect(isLinearizable(h('x', 'null'), map())).toBe(true)
    expect(isLinearizable(h('x', '1'), map())).toBe(false)
    expect(isLinearizable(h('y', '1'), map())).toBe(true)
  })
})

test('an operation that a model does not have is refused with those that it has', () => {
  expect(() => isLinearizable('a increment', register())).not.toThrow()
  expect(() => isLinearizable('a constructor\na ok', register())).toThrow('asked for "constructor"')
  expect(() => isLinearizable('a increment\na ok', register())).toThrow(
    'a register has the operations write, read, cas, but a asked for "increment"',
  )
})
