import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { start } from '../cli/lastnail.ts'

const installed = spawnSync('beanstalkd', ['-v']).status === 0

test.skipIf(!installed)('a queue forgets that a worker waits (needs beanstalkd)', async () => {
  const out = mkdtempSync(join(tmpdir(), 'lastnail-beanstalkd-'))
  onTestFinished(() => rmSync(out, { recursive: true, force: true }))
  const example = fileURLToPath(new URL('../../examples/beanstalkd/', import.meta.url))
  const args = ['check', 'lastnail.config.ts', '--executions', '12', '--walk-length', '20', '--json', '--out', out]
  const { stdout } = await start(example, args)
  const { criticalTransition, ...found } = JSON.parse(String(stdout))
  expect(found).toMatchObject({ verdict: 'violated', property: 'everyWaitEnds', kind: 'liveness', repeated: true })
  expect(found.schedule.at(-1)).toBe('client put')
  expect(criticalTransition).toMatchObject({ label: 'client put', case: 'C1' })
})
