import { expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { register } from '../../../checker/history/models.ts'
import type { Operation } from '../../../checker/history/operation.ts'
import { linearizable, sequentiallyConsistent, type WithHistory } from '../../../checker/history/property.ts'
import { Model, type Transition } from '../systems/model.ts'

const bounded = { search: 'bounded', depth: 3 } as const

/** A register that is written once; reads of it may be stale. */
const staleRegister = () =>
  new Model<WithHistory>({ history: [] }, ({ history }) => {
    const did = (process: string, op: string, what: Partial<Operation>): Transition<WithHistory> => {
      const [invoked, returned] = [2 * history.length, 2 * history.length + 1]
      const next = { process, op, outcome: 'ok' as const, invoked, returned, ...what }
      return {
        kind: 'client',
        node: 'n',
        label: `${process} ${op} ${what.result ?? ''}`,
        next: () => ({ history: [...history, next] }),
      }
    }
    if (history.length === 3) return []
    const writes = history.some(({ op }) => op === 'write') ? [] : [did('ann', 'write', { value: 1 })]
    return [...writes, did('bob', 'read', { result: 0 })]
  })

test('a violation is told with the smallest part of the history', async () => {
  const properties = { atomic: linearizable(register(0)) }
  const { verdict, repeated, schedule, message } = await check(staleRegister(), properties, bounded)
  expect({ verdict, repeated, schedule }).toEqual({
    verdict: 'violated',
    repeated: true,
    schedule: ['ann write ', 'bob read 0'],
  })
  expect(message).toMatchInlineSnapshot(`
    "atomic does not hold after step 2 (bob read 0): no register has these operations in any order, each between its invocation and its return:
        ann  from 0 to 1  write 1
        bob  from 2 to 3  read → 0"
  `)
})

test('a history that is not linearizable may be sequentially consistent: each process sees its own order', async () => {
  const properties = { sequential: sequentiallyConsistent(register(0)) }
  expect(await check(staleRegister(), properties, bounded)).toMatchObject({ verdict: 'held', depth: 3 })
})

test('an operation that the model does not know is a configuration error', async () => {
  const system = new Model<WithHistory>({ history: [] }, () => [])
  const properties = { atomic: linearizable(register(0)) }
  const odd = { history: [{ process: 'ann', op: 'pop', outcome: 'ok' as const, invoked: 0, returned: 1 }] }
  expect(await check(system, properties, bounded)).toMatchObject({ verdict: 'undetermined' })
  await expect(check(new Model<WithHistory>(odd, () => []), properties, bounded)).rejects.toThrow(
    'properties.atomic threw in the initial state: UsageError: a register has the operations write, read, cas, but ann asked for "pop"',
  )
})
