import { readlinkSync, type Stats, statSync } from 'node:fs'
import { constants } from 'node:os'
import type { Registers } from '../../../linux/ptrace.ts'
import type { Unsynced } from '../../unsynced/unsynced.ts'
import type { HeldThread } from '../held/held-node.ts'
import { flushMapped, seeMapped } from './mapped-files.ts'
import type { Treatments } from './treatment.ts'

/** What is to be made to last. */
type Flush = (unsynced: Unsynced, path: string, file: Stats) => void

/**
 * Flushes to a disk. Nothing has to be written, because this machine loses no power: what a power failure of the node may
 * lose is remembered beside. Invalid descriptors are reported as by the kernel.
 */
const flush =
  (make: Flush) =>
  ({ process }: HeldThread, registers: Registers): number => {
    const fd = registers.get('rdi') | 0
    const file = statOf(process.pid, fd)
    if (file === undefined) return -constants.errno.EBADF
    if (file.isFIFO() || file.isSocket()) return -constants.errno.EINVAL
    const { unsynced } = process.node
    if (unsynced) {
      seeMapped(process.node)
      make(unsynced, readlinkSync(`/proc/${process.pid}/fd/${fd}`), file)
    }
    return 0
  }

const one = flush((unsynced, path, file) => {
  if (file.isDirectory()) unsynced.syncDirectory(path)
  else unsynced.syncFile(path)
})

const all = flush(unsynced => unsynced.syncAll())

/** It waits for data alone: where the file system does not know yet where that is, nothing lasts. */
const range = flush(() => {})

/** Attributes of an open descriptor; undefined if the process has no such descriptor. */
const statOf = (pid: number, fd: number): Stats | undefined =>
  fd < 0 ? undefined : statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false })

/** `sync` and `msync` are stopped only where a power failure may come. */
export const flushCalls: Treatments = {
  fsync: one,
  fdatasync: one,
  sync_file_range: range,
  syncfs: all,
  msync: flushMapped,
  sync: ({ process }) => {
    seeMapped(process.node)
    process.node.unsynced?.syncAll()
    return 0
  },
}
