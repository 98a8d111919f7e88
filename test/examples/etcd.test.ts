import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { differenceOf, executeAgain, executeAny } from '../../bench/trio.ts'
import { loadConfig } from '../../cli/load-config.ts'
import { resolveSystem } from '../../harness/config.ts'

const installed = spawnSync('etcd', ['--version']).status === 0

const load = async (name: string) => {
  const path = fileURLToPath(new URL(`../../examples/etcd/${name}`, import.meta.url))
  const { definition, directory } = await loadConfig(path)
  return resolveSystem(definition, { directory })
}

describe.skipIf(!installed)('three members (needs etcd)', () => {
  test('300 steps give the same trace each time', { timeout: 300_000, retry: 0 }, async () => {
    const system = await load('lastnail.config.ts')
    for (const seed of [1, 2]) {
      const first = await executeAny(system, 300, seed)
      expect(first).toHaveLength(301)
      expect(differenceOf(first, await executeAgain(system, first))).toBe(undefined)
    }
  })
})
