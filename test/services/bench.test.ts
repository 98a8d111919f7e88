import { expect, test } from 'vitest'
import { measure } from '../../bench/services/measure.ts'

// One cheap row; all of them take an hour and fetch programs: `npm run bench:services`.
test('a row of bench:services says how many executions were the same', () => {
  expect(measure('node', { times: '3', steps: '40' })).toMatch(/^3 of 3, 40 steps, \d+\.\d s$/)
})

test('a service that is not here is said', () => {
  const path = process.env.PATH
  process.env.PATH = '/bin-that-is-not'
  try {
    expect(measure('etcd', { times: '1' })).toBe('not here: etcd')
  } finally {
    process.env.PATH = path
  }
})
