import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { differenceOf, executeAgain, executeAny, executeOn, type Kind, kinds, systemOf } from '../../bench/trio.ts'
import { Cluster } from '../../harness/cluster.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const programs: Record<Kind, string> = { node: 'node', python: 'python3', redis: 'redis-server' }
const isInstalled = (kind: Kind) => spawnSync(programs[kind], ['--version']).status === 0

for (const kind of kinds)
  test.skipIf(!isInstalled(kind))(
    `200 steps of three processes give the same trace each time (needs ${programs[kind]})`,
    { timeout: 180_000, retry: 0 },
    async () => {
      const system = await systemOf(kind, root)
      const first = await executeAny(system, 200, 2)
      expect(first).toHaveLength(201)
      for (let again = 0; again < 2; again++)
        expect(differenceOf(first, await executeAgain(system, first))).toBe(undefined)
    },
  )

for (const kind of kinds)
  test.skipIf(!isInstalled(kind))(
    `rewound processes do what new ones do (needs ${programs[kind]})`,
    { timeout: 180_000, retry: 0 },
    async () => {
      const system = await systemOf(kind, root)
      const cluster = new Cluster(system, { seed: 1 })
      onTestFinished(() => cluster.close())
      for (let seed = 1; seed <= 4; seed++) {
        const { steps } = await executeOn(cluster, 60, seed)
        expect(differenceOf(steps, await executeAgain(system, steps))).toBe(undefined)
      }
      await cluster.reset()
      const { starts } = cluster
      await cluster.reset()
      expect(cluster.starts).toBe(starts)
    },
  )
