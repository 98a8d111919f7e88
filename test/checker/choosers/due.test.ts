import { expect, test } from 'vitest'
import { due } from '../../../checker/choosers/due.ts'
import type { Choice } from '../../../checker/system/system.ts'

const choice = (label: string, at?: number): Choice => ({
  kind: 'deliver',
  subject: label,
  numbers: [],
  node: 'n1',
  label,
  ...(at !== undefined && { due: at }),
})

test('what is due first happens first; of several at one time, the first that is enabled', () => {
  expect(due([choice('late', 5), choice('first', 3), choice('second', 3)])?.label).toBe('first')
})

test('what has no time never happens', () => {
  expect(due([choice('crash')])).toBeUndefined()
  expect(due([choice('crash'), choice('timer', 1e9)])?.label).toBe('timer')
})
