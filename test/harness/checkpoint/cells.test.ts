import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type Kind, kinds, systemOf } from '../../../bench/trio.ts'
import { Cluster } from '../../../harness/cluster.ts'
import { hasCriu } from './criu.ts'
import { walkAlong, walkFrom } from './walks.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const programs: Record<Kind, string> = { node: 'node', python: 'python3', redis: 'redis-server' }
const isInstalled = (kind: Kind) => spawnSync(programs[kind], ['--version']).status === 0
/** With connections open, messages in flight, and nodes that were reset or cut off. */
const before: Record<Kind, number> = { node: 25, python: 15, redis: 15 }

for (const kind of kinds)
  test.skipIf(!hasCriu() || !isInstalled(kind))(
    `three processes go on from where they were saved as they went on then (needs CRIU, ${programs[kind]})`,
    { timeout: 180_000 },
    async () => {
      const system = await systemOf(kind, root)
      const cluster = new Cluster(system, { seed: 1 })
      onTestFinished(() => cluster.close())
      await cluster.reset()
      await walkFrom(cluster, before[kind], 3)
      const checkpoint = await cluster.checkpoints.save()
      onTestFinished(() => checkpoint.discard())
      expect(checkpoint.lacking).toBe(undefined)
      expect(checkpoint.bytes).toBeGreaterThan(3_000_000)

      const first = await walkFrom(cluster, 12, 4)
      expect(first.labels).toHaveLength(12)
      for (let again = 0; again < 2; again++) {
        expect(await cluster.checkpoints.goBack(checkpoint)).toBe(undefined)
        expect(await walkAlong(cluster, first.labels)).toEqual(first)
      }
      // All of its processes are gone.
      cluster.close()
      const other = new Cluster(system, { seed: 1 })
      onTestFinished(() => other.close())
      expect(await other.checkpoints.goBack(checkpoint)).toBe(undefined)
      expect(await walkAlong(other, first.labels)).toEqual(first)
    },
  )
