import { type Stats, statSync } from 'node:fs'
import { constants } from 'node:os'
import type { Registers } from '../../../linux/ptrace.ts'
import type { SyscallName } from '../../../linux/syscall-number.ts'
import type { HeldThread } from '../held/held-node.ts'

/**
 * Flushes to a disk. In a crash processes end but no machine loses power, so nothing has to be written. Invalid
 * descriptors are reported as by the kernel.
 */
const flush = ({ process }: HeldThread, registers: Registers): number => {
  const file = statOf(process.pid, registers.get('rdi') | 0)
  if (file === undefined) return -constants.errno.EBADF
  return file.isFIFO() || file.isSocket() ? -constants.errno.EINVAL : 0
}

/** Attributes of an open descriptor; undefined if the process has no such descriptor. */
const statOf = (pid: number, fd: number): Stats | undefined =>
  fd < 0 ? undefined : statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false })

export const flushCalls: Partial<Record<SyscallName, typeof flush>> = {
  fsync: flush,
  fdatasync: flush,
  sync_file_range: flush,
  syncfs: flush,
}
