import { expect, test } from 'vitest'
import { columnsOf } from '../../bench/services/columns.ts'
import { measure } from '../../bench/services/measure.ts'

// One cheap row; all of them take an hour and fetch programs: `npm run bench:services`.
test('a row of bench:services says how many executions were the same', async () => {
  expect(await measure('node', { times: '3', steps: '40' })).toMatch(/^3 of 3, 40 steps, \d+\.\d s$/)
})

test('a missing service is reported', async () => {
  const path = process.env.PATH
  process.env.PATH = '/bin-that-is-not'
  try {
    expect(await measure('etcd', { times: '1' })).toBe('not here: etcd')
  } finally {
    process.env.PATH = path
  }
})

test('the columns of a check say how executions begin, and what is refused', () => {
  const notes = [
    'db: a life of it could not be rewound, and was started anew: it shares memory (12 times)',
    'db: io_uring_setup is refused with ENOSYS: its work continues in the kernel while all threads rest',
  ]
  const checked = { verdict: 'held', kind: null, executions: 12, stepsPerSecond: 34, notes }
  expect(columnsOf(checked, { tool: 99.6, nodes: 20 })).toBe(
    'held | 12 executions | 34 steps/s | anew: db: it shares memory (12 times) | refused: io_uring_setup | 100 MB and 20 MB',
  )
  expect(columnsOf({ ...checked, notes: [] }, { tool: 1, nodes: 1 })).toContain('| in place | nothing refused |')
})
