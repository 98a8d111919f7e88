import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { differenceOf, executeAgain, executeAny } from '../../bench/trio.ts'
import { start } from '../cli/lastnail.ts'
import { systemOf } from './execute.ts'

const installed = spawnSync('etcd', ['--version']).status === 0

describe.skipIf(!installed)('three members (needs etcd)', () => {
  test('300 steps give the same trace each time', { timeout: 300_000, retry: 0 }, async () => {
    const system = await systemOf('etcd/lastnail.config.ts')
    for (const seed of [1, 2]) {
      const first = await executeAny(system, 300, seed)
      expect(first).toHaveLength(301)
      expect(differenceOf(first, await executeAgain(system, first))).toBe(undefined)
    }
  })

  test('give a lock to one while another one has it', { timeout: 300_000 }, async () => {
    const out = mkdtempSync(join(tmpdir(), 'lastnail-etcd-'))
    onTestFinished(() => rmSync(out, { recursive: true, force: true }))
    const args = ['check', 'lock.config.ts', '--executions', '1', '--workers', '1', '--out', out]
    const example = fileURLToPath(new URL('../../examples/etcd/', import.meta.url))
    const { exitCode, stdout } = await start(example, args)
    expect(String(stdout)).toContain('violated: safety mutualExclusion\n')
    expect(String(stdout)).toMatch(/^ {4}ann {2}step \d+ to \d+ {2}acquire job$/m)
    expect(exitCode).toBe(1)
  })
})
