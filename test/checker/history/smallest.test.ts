import { expect, test } from 'vitest'
import type { Model } from '../../../checker/history/model.ts'
import { lock, queue, register } from '../../../checker/history/models.ts'
import { linearizable, sequentiallyConsistent } from '../../../checker/history/property.ts'
import { history } from './notation.ts'

const explain = <State>(text: string, model: Model<State>) => linearizable(model).explain!({ history: history(text) })

test('a read that goes back: what was read before it, and the write that explains it', () => {
  const h = `
    c write 7 of y
    c ok
    a write 1 of x
    b read of x
    b → 1
    c read of y
    c → 7
    c read of x
    c → 0
    a ok
    b read of x
    b → 1`
  expect(explain(h, register(0))).toMatchInlineSnapshot(`
    "no register has these operations in any order, each between its invocation and its return:
        a  from 2 to …  write x 1 → ?
        b  from 3 to 4  read x → 1
        c  from 7 to 8  read x → 0"
  `)
})

test('a write that was lost: both writes, and the read', () => {
  const h = `
    a write 1
    a ok
    b read
    b → 1
    a write 2
    a ok
    b write 3
    b ok
    a read
    a → 1
    a read
    a → 3`
  expect(explain(h, register(0))).toMatchInlineSnapshot(`
    "no register has these operations in any order, each between its invocation and its return:
        a  from 0 to 1  write 1
        b  from 6 to 7  write 3
        a  from 8 to 9  read → 1"
  `)
})

test('a value that nobody wrote: that read alone', () => {
  const h = `
    a write 1
    a ok
    b read
    b → 5`
  expect(explain(h, register())).toMatchInlineSnapshot(`
    "no register has these operations in any order, each between its invocation and its return:
        b  from 2 to 3  read → 5"
  `)
})

test('a lock that two have; a queue that gives twice', () => {
  const locks = `
    a acquire
    a ok
    a release
    a ok
    a acquire
    a ok
    b acquire
    b ok`
  expect(explain(locks, lock())).toMatchInlineSnapshot(`
    "no lock has these operations in any order, each between its invocation and its return:
        a  from 4 to 5  acquire
        b  from 6 to 7  acquire"
  `)
  const jobs = `
    a enqueue 1
    a ok
    a enqueue 2
    a ok
    b dequeue
    b → 1
    c dequeue
    c → 1`
  expect(explain(jobs, queue())).toMatchInlineSnapshot(`
    "no queue has these operations in any order, each between its invocation and its return:
        a  from 0 to 1  enqueue 1
        b  from 4 to 5  dequeue → 1
        c  from 6 to 7  dequeue → 1"
  `)
})

test('of sequential consistency, the part may be of several keys', () => {
  const h = `
    c write 1 of z
    a write 1 of x
    b write 1 of y
    a ok
    b ok
    a read of y
    b read of x
    a → 0
    b → 0
    c ok`
  expect(sequentiallyConsistent(register(0)).explain!({ history: history(h) })).toMatchInlineSnapshot(`
    "no register has these operations in any order, those of each process in its order:
        a  from 1 to 3  write x 1
        b  from 2 to 4  write y 1
        a  from 5 to 7  read y → 0
        b  from 6 to 8  read x → 0"
  `)
})
