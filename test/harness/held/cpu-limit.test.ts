import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { CpuLimit } from '../../../harness/hold/held/cpu-limit.ts'

test('where all nodes have ended, no node exceeds a limit, however long it takes', async () => {
  const limit = new CpuLimit([], 1, () => {})
  await sleep(5)
  expect(limit.exceeding()).toBe(undefined)
})
