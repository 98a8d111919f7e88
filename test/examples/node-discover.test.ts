import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { start } from '../cli/lastnail.ts'
import { install } from './install.ts'

const example = fileURLToPath(new URL('../../examples/node-discover/', import.meta.url))

beforeAll(() => install(example))

const check = async (config: string, executions: number) => {
  const out = mkdtempSync(join(tmpdir(), 'lastnail-node-discover-'))
  onTestFinished(() => rmSync(out, { recursive: true, force: true }))
  const { stdout } = await start(example, ['check', config, '--executions', `${executions}`, '--json', '--out', out])
  return JSON.parse(String(stdout))
}

test('two processes of one weight stay masters for ever', async () => {
  const { criticalTransition, ...found } = await check('lastnail.config.ts', 20)
  expect(found).toMatchObject({ verdict: 'violated', property: 'oneMaster', kind: 'liveness', repeated: true })
  expect(criticalTransition).toMatchObject({ label: expect.stringMatching(/^n\d timer/), case: 'C1' })
})

test('where weights differ one of them gives way', async () => {
  expect(await check('weights.config.ts', 40)).toMatchObject({ verdict: 'held', executions: 40 })
})
