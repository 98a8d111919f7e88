import { closeSync, openSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import type { DiskFailure } from '../../../checker/happening/disk-failures.ts'
import type { Registers } from '../../../linux/ptrace.ts'
import type { SyscallName } from '../../../linux/syscall-number.ts'
import type { HeldThread } from '../held/held-node.ts'
import { bytesAt, fileOf, isFileOfDisk, type OpenFile, placeOfWrite } from './written-files.ts'

const syncs: ReadonlySet<SyscallName> = new Set(['fsync', 'fdatasync', 'syncfs', 'msync'])
const writes: ReadonlySet<SyscallName> = new Set(['write', 'pwrite64', 'writev', 'pwritev', 'pwritev2'])
/** Writes whose third argument is a number of bytes. */
const plainWrites: ReadonlySet<SyscallName> = new Set(['write', 'pwrite64'])

/** What is done at the exit of a call. */
type AtExit = (registers: Registers) => void

/**
 * The error with which a call fails; `half` if it writes half of its bytes; or what the disk does to them afterwards.
 * Undefined if the call is carried out as it is.
 */
export const diskFailureOf = (
  thread: HeldThread,
  registers: Registers,
  name: SyscallName,
): number | 'half' | AtExit | undefined => {
  const { node, pid } = thread.process
  const failure = node.waitingFaults.get('disk')
  if (failure === undefined) return undefined
  const { what, at } = failure
  if (what === 'sync' ? !syncs.has(name) : !writes.has(name) || !isFileOfDisk(pid, registers.get('rdi') | 0))
    return undefined
  const calls = node.waitingFaults.countCall('disk')
  if (what === 'sync') return calls === at ? -constants.errno.EIO : undefined
  if (what === 'full') return calls >= at ? -constants.errno.ENOSPC : undefined
  if (calls !== at) return undefined
  if (what !== 'short') return damage(thread, registers, name, what)
  return plainWrites.has(name) && registers.get('rdx') > 1 ? 'half' : undefined
}

/**
 * What a disk makes of a write that it says it has done. A program sees it from then on, as if the kernel kept no copy in memory.
 */
const damage = (
  thread: HeldThread,
  registers: Registers,
  name: SyscallName,
  what: Exclude<DiskFailure['what'], 'sync' | 'full' | 'short'>,
): AtExit | undefined => {
  const file = fileOf(thread.process.pid, registers.get('rdi') | 0)
  const place = file && placeOfWrite(thread.process.memory, registers, name, file)
  if (file === undefined || place === undefined) return undefined
  const { offset, length } = place
  const before = bytesAt(file.own, offset, Math.min(length, file.size - offset))
  return after => {
    const written = after.get('rax')
    if (written <= 0) return
    const bytes = bytesAt(file.own, offset, written)
    if (what === 'rotten') {
      bytes[bytes.length >> 1]! ^= 1
      return put(file, offset, bytes)
    }
    // What the file did not have is there by its length, and nothing was written to it.
    put(file, offset, Buffer.concat([before.subarray(0, written), Buffer.alloc(Math.max(0, written - before.length))]))
    if (what === 'misdirected') put(file, elsewhere(file, offset, written), bytes)
  }
}

const block = 4096

/** One block before, or after in a file that begins there; a smaller file has its beginning overwritten, or its end. */
const elsewhere = ({ size }: OpenFile, offset: number, length: number): number => {
  if (offset >= block) return offset - block
  if (offset + block + length <= size) return offset + block
  return offset > 0 ? 0 : length
}

const put = ({ own }: OpenFile, offset: number, bytes: Buffer): void => {
  const descriptor = openSync(own, 'r+')
  try {
    writeSync(descriptor, bytes, 0, bytes.length, offset)
  } finally {
    closeSync(descriptor)
  }
}
