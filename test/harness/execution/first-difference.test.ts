import { expect, test } from 'vitest'
import {
  firstDifference,
  incidentalDifference,
  type RecordedCalls,
} from '../../../harness/execution/first-difference.ts'
import type { CallRecord } from '../../../harness/hold/held/call-recorder.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'

const call = (sequence: number, change: Partial<CallRecord> = {}): CallRecord => ({
  ...{ sequence, number: syscallNumber.read, args: [], result: 0, given: '', gives: 'all', essential: 'most' },
  ...{ stack: Buffer.alloc(0), ...change },
})

/** An execution of one thread that made a call in the start and in each of two steps. */
const execution = (...calls: readonly CallRecord[]): RecordedCalls => ({
  steps: calls.map(each => new Map([['n1 0', [each]]])),
  regions: new Map(),
})

const usual = execution(call(0), call(1), call(2))

test('what few programs look at is a difference only of its own kind', () => {
  const other = execution(call(0), call(1, { gives: 'another device' }), call(2))
  expect(firstDifference(usual, other)).toBeUndefined()
  expect(incidentalDifference(usual, other)).toMatchObject({ step: 1, node: 'n1', thread: 0, call: 'read' })
})

test('any other difference is named, even after an incidental one', () => {
  const other = execution(call(0), call(1, { gives: 'another device' }), call(2, { result: 114 }))
  expect(firstDifference(usual, other)).toMatchObject({ step: 2, call: 'read' })
  expect(firstDifference(usual, other)!.is!.text).toContain('= 114')
})

test('steps before the first one to compare are not compared', () => {
  const other = execution(call(0, { result: 1 }), call(1), call(2))
  expect(firstDifference(usual, other)).toMatchObject({ step: 0 })
  expect(firstDifference(usual, other, 1)).toBeUndefined()
})
