import { expect, test } from 'vitest'
import { register } from '../../../checker/history/models.ts'
import type { Operation } from '../../../checker/history/operation.ts'
import { linearizable, sequentiallyConsistent } from '../../../checker/history/property.ts'
import { Random } from '../../../checker/system/random.ts'

/** What processes do with registers, each operation at some moment between its invocation and its return. */
const simulate = (
  size: number,
  { keys, processes }: { keys: number; processes: number },
  random: Random,
): Operation[] => {
  const values = new Map<string, unknown>()
  const free = Array.from({ length: processes }, (_, i) => i)
  const running: { process: number; at: number; isDone: boolean }[] = []
  const operations: Operation[] = []
  for (let time = 0; operations.length < size || running.length > 0; time++) {
    if (operations.length < size && free.length > 0 && random.next() < 0.5) {
      const process = free.splice(Math.floor(random.next() * free.length), 1)[0]!
      running.push({ process, at: operations.length, isDone: false })
      const asked = random.next() < 0.5 ? { op: 'write', value: operations.length } : { op: 'read' }
      const key = `k${Math.floor(random.next() * keys)}`
      operations.push({ process: `p${process}`, key, ...asked, outcome: 'unknown', invoked: time })
    } else if (running.length > 0) {
      const call = random.pick(running)
      const operation = operations[call.at]!
      if (!call.isDone) {
        const result = operation.op === 'read' ? values.get(operation.key!) : undefined
        if (operation.op === 'write') values.set(operation.key!, operation.value)
        operations[call.at] = { ...operation, result }
        call.isDone = true
      } else {
        operations[call.at] = { ...operation, outcome: 'ok', returned: time }
        running.splice(running.indexOf(call), 1)
        free.push(call.process)
      }
    }
  }
  return operations
}

const staleAt = (history: readonly Operation[], index: number) => {
  const at = history.findIndex(
    (operation, i) => i >= index && operation.op === 'read' && operation.result !== undefined,
  )
  return history.with(at, { ...history[at]!, result: undefined })
}

test('10,000 operations over 100 keys are judged, and the smallest part of them that contradicts itself is shown', () => {
  const history = simulate(10_000, { keys: 100, processes: 20 }, new Random(1))
  expect(linearizable(register()).holds({ history })).toBe(true)
  expect(sequentiallyConsistent(register()).holds({ history })).toBe(true)
  const stale = staleAt(history, 9_000)
  const { holds, explain } = linearizable(register())
  expect(holds({ history: stale })).toBe(false)
  const part = explain!({ history: stale }).split('\n').slice(1)
  expect(part.length).toBeLessThan(10)
  expect(part.at(-1)).toMatch(/read k\d+$/)
})

test('10,000 operations of one key are judged', () => {
  const history = simulate(10_000, { keys: 1, processes: 4 }, new Random(1))
  expect(linearizable(register()).holds({ history })).toBe(true)
  expect(linearizable(register()).holds({ history: staleAt(history, 9_000) })).toBe(false)
})
