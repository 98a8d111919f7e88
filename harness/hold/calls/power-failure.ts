import { readlinkSync } from 'node:fs'
import type { Registers } from '../../../linux/ptrace.ts'
import type { SyscallName } from '../../../linux/syscall-number.ts'
import type { HeldThread } from '../held/held-node.ts'

/** Calls that make something last, and calls by which others may learn of something. */
const syncs: ReadonlySet<SyscallName> = new Set(['fsync', 'fdatasync', 'sync_file_range', 'syncfs', 'sync', 'msync'])
export const sends = ['sendto', 'sendmsg', 'sendmmsg'] as const satisfies readonly SyscallName[]
const writes: ReadonlySet<SyscallName> = new Set(['write', 'writev', ...sends])

/** Whether the power of a thread's node fails now, just before this call. */
export const losesPower = ({ process }: HeldThread, registers: Registers, name: SyscallName | undefined): boolean => {
  const { node } = process
  const failure = node.waitingFaults.get('power')
  if (failure === undefined || name === undefined) return false
  if (!syncs.has(name) && !(writes.has(name) && isSocket(process.pid, registers.get('rdi') | 0))) return false
  const before = failure.before - 1
  if (before > 0) {
    node.waitingFaults.set('power', { ...failure, before })
    return false
  }
  node.waitingFaults.delete('power')
  node.lostPower = failure.leaves
  return true
}

const isSocket = (pid: number, fd: number): boolean => {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:')
  } catch {
    return false
  }
}
