import { expect, test } from 'vitest'
import { AuditTurns } from '../../../harness/execution/audit.ts'

const which = (count: number, isRepeated: () => boolean) =>
  Array.from({ length: count }, (_, index) => index + 1).filter(() => isRepeated())

test('of the executions in place the twentieth and each hundredth are repeated', () => {
  const turns = new AuditTurns()
  expect(which(300, () => turns.nextInPlace(0))).toEqual([20, 100, 200, 300])
})

test('one that begins late in a run waits until ten times as many steps as lead there were executed in place', () => {
  const turns = new AuditTurns()
  const steps = (count: number) => {
    for (let step = 0; step < count; step++) turns.countStep()
  }
  expect(which(30, () => turns.nextInPlace(500))).toEqual([])
  steps(4999)
  expect(turns.nextInPlace(500)).toBe(false)
  steps(1)
  expect(turns.nextInPlace(500)).toBe(true)
  expect(which(60, () => turns.nextInPlace(0))).toEqual([])
})
