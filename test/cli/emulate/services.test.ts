import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lastnail } from '../lastnail.ts'

const root = join(import.meta.dirname, '../../..')
const isThere = (program: string) => spawnSync(program, ['--version']).error === undefined

test.skipIf(!isThere('redis-server'))(
  'redis with a sentinel, driven by a client, runs the same twice at the pace virtual (needs redis-server)',
  async () => {
    const out = mkdtempSync(join(tmpdir(), 'lastnail-services-'))
    onTestFinished(() => rmSync(out, { recursive: true }))
    const run = async () => {
      const config = 'examples/sentinel/lastnail.config.ts'
      const { code, stdout } = await lastnail(root, 'emulate', config, '--for', '12s', '--out', out, '--json')
      expect(code).toBe(0)
      return JSON.parse(stdout)
    }
    const first = await run()
    expect(first.clients).toMatchObject([{ name: 'write', failed: 0 }])
    expect(first.clients[0].calls).toBeGreaterThan(8)
    expect(await run()).toMatchObject({ hash: first.hash, steps: first.steps })
  },
)
