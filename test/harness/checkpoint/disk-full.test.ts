import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLONE_NEWNS, mount, requireSuccess, unshare } from '../../../linux/libc.ts'
import { clusterOf, stdoutOf } from '../system.ts'
import { hasCriu } from './criu.ts'
import { walkAlong, walkFrom } from './walks.ts'

const privatePropagation = 0x4000 | (1 << 18)

test.skipIf(!hasCriu() || !existsSync('/dev/shm'))(
  'where the disk is full nothing is saved, and the way is executed again (needs CRIU)',
  async () => {
    // For this thread alone, which does all that writes.
    requireSuccess('unshare', unshare(CLONE_NEWNS))
    requireSuccess('mount /', mount(null, '/', null, privatePropagation, null))
    requireSuccess('mount /dev/shm', mount('tmpfs', '/dev/shm', 'tmpfs', 0, 'size=4m'))
    const cluster = clusterOf({
      nodes: { n: { command: ['node', '-e', 'let n = 0; setInterval(() => console.log(++n), 700)'] } },
    })
    expect(await cluster.reset()).toEqual([])
    await walkFrom(cluster, 2, 1)
    const checkpoint = await cluster.checkpoints.save()
    expect(checkpoint.lacking).toContain('No space left on device')
    const first = await walkFrom(cluster, 2, 1)
    expect(await cluster.checkpoints.goBack(checkpoint)).toBe(checkpoint.lacking)
    expect(stdoutOf(cluster, 'n')).toHaveLength(2)
    expect(await walkAlong(cluster, first.labels)).toEqual(first)
  },
)
