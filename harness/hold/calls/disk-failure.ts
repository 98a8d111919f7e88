import { constants } from 'node:os'
import type { Registers } from '../../../linux/ptrace.ts'
import type { SyscallName } from '../../../linux/syscall-number.ts'
import type { HeldThread } from '../held/held-node.ts'
import { isFileOfDisk } from './written-files.ts'

const syncs: ReadonlySet<SyscallName> = new Set(['fsync', 'fdatasync', 'syncfs', 'msync'])
const writes: ReadonlySet<SyscallName> = new Set(['write', 'pwrite64', 'writev', 'pwritev', 'pwritev2'])
/** Writes whose third argument is a number of bytes. */
const plainWrites: ReadonlySet<SyscallName> = new Set(['write', 'pwrite64'])

/** The error with which a call fails, or `short` if it writes half of what it should; undefined if it does what it does. */
export const failureOf = (
  thread: HeldThread,
  registers: Registers,
  name: SyscallName,
): number | 'short' | undefined => {
  const { node, pid } = thread.process
  const failure = node.waitingFaults.get('disk')
  if (failure === undefined) return undefined
  const { what, at } = failure
  if (what === 'sync' ? !syncs.has(name) : !writes.has(name) || !isFileOfDisk(pid, registers.get('rdi') | 0))
    return undefined
  const calls = node.waitingFaults.countCall('disk')
  if (what === 'sync') return calls === at ? -constants.errno.EIO : undefined
  if (what === 'full') return calls >= at ? -constants.errno.ENOSPC : undefined
  return calls === at && plainWrites.has(name) && registers.get('rdx') > 1 ? 'short' : undefined
}
