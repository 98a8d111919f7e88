import { type Stats, statSync } from 'node:fs'
import { constants } from 'node:os'
import type { HeldThread } from './held-node.ts'
import type { Registers } from './ptrace.ts'
import type { SyscallName } from './syscall-number.ts'

/**
 * Flushing to a disk. A crash ends processes, and no machine loses its power, so nothing has to be written; but a
 * descriptor that is not open, or is none of a file, is told as the kernel tells it.
 */
const flush = ({ process }: HeldThread, registers: Registers): number => {
  const file = statOf(process.pid, registers.get('rdi') | 0)
  if (file === undefined) return -constants.errno.EBADF
  return file.isFIFO() || file.isSocket() ? -constants.errno.EINVAL : 0
}

/** What a process has open; undefined where it has nothing of that number. */
const statOf = (pid: number, fd: number): Stats | undefined =>
  fd < 0 ? undefined : statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false })

export const flushCalls: Partial<Record<SyscallName, typeof flush>> = {
  fsync: flush,
  fdatasync: flush,
  sync_file_range: flush,
  syncfs: flush,
}
