import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Budget } from '../../../checker/system/budget.ts'
import { startAfter } from '../../../checker/system/start.ts'
import { exitCode, explainError } from '../../../cli/command/exit-code.ts'
import { Worker } from '../../../cli/workers/workers.ts'
import { allowedCpus } from '../../../linux/affinity.ts'

const { execPath } = process
beforeEach(() => {
  process.execPath = join(import.meta.dirname, 'no-such-program')
})
afterEach(() => {
  process.execPath = execPath
})

const start = () => {
  const cpus = allowedCpus()
  return new Worker({ file: 'none.config.ts', clocksStart: '2026-01-01T00:00:00Z', cpu: cpus[0]! }, cpus)
}

test('a worker process that cannot be started is reported at once, as a lack of this machine', async () => {
  const worker = start()
  const task = { start: startAfter([]) }
  const failure = await worker.perform(task as never, 0, new Budget({})).catch((error: unknown) => error)
  expect(explainError(failure)).toMatchObject({
    code: exitCode.machineLacks,
    lines: [expect.stringMatching(/^a worker process cannot be started: spawn .*no-such-program ENOENT/)],
  })
  await worker.end()
})

test('one that nothing was asked of ends', async () => {
  await start().end()
})
