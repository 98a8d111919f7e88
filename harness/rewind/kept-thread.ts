import type { HeldThread } from '../hold/held-node.ts'
import { getRestartableSequences } from '../hold/ptrace.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { type Call, makeCalls } from './batch.ts'

const getTidAddress = 40
const wake = 1
const [register, unregister] = [0, 1]
const all = 0x7fff_ffff

/** What the kernel does in a thread's memory when it ends. */
export interface Legacy {
  /** Where it writes zero, and wakes who waits for that; 0 for nowhere. */
  readonly tidAddress: number
  /** struct robust_list_head: the locks that it holds, which others then get; 0 for none. */
  readonly locks: number
  /** Where it tells the thread of interruptions, until then. */
  readonly sequences: readonly [number, number, number] | undefined
}

/** Of a frozen thread, whose registers are lost; undefined where the kernel does not tell. */
export const legacyOf = (thread: HeldThread): Legacy | undefined => {
  const [tidAddress, locks, length] = [Buffer.alloc(8), Buffer.alloc(8), Buffer.alloc(8)]
  const results = makeCalls(thread, [
    [syscallNumber.prctl, getTidAddress, tidAddress],
    [syscallNumber.get_robust_list, 0, locks, length],
  ])
  if (results.some(result => result < 0)) return undefined
  return {
    tidAddress: Number(tidAddress.readBigUInt64LE()),
    locks: Number(locks.readBigUInt64LE()),
    sequences: getRestartableSequences(thread.tid),
  }
}

/**
 * Whether a thread leaves no lock to others, which a kept one would never give them: the list's head is alone in it, and
 * none is being taken.
 */
export const leavesNoLock = ({ process }: HeldThread, { locks }: Legacy): boolean => {
  if (locks === 0) return true
  const head = process.memory.read(locks, 24)
  return head.readBigUInt64LE() === BigInt(locks) && head.readBigUInt64LE(16) === 0n
}

/** Lets others see that a thread has ended that is kept: who waits for that goes on, and may take its stack away. */
export const showEnd = (thread: HeldThread, { tidAddress, sequences }: Legacy): void => {
  makeCalls(thread, tellingCalls(0, sequences, unregister))
  if (tidAddress === 0) return
  thread.process.memory.write(tidAddress, Buffer.alloc(4))
  makeCalls(thread, [[syscallNumber.futex, tidAddress, wake, all]])
}

/** As if that had not been. The thread has its memory again; its registers are lost. */
export const takeEndBack = (thread: HeldThread, { tidAddress, sequences }: Legacy): void => {
  makeCalls(thread, tellingCalls(tidAddress, sequences, register))
}

/** The calls that tell the kernel where to write, at the thread's end and until then. */
const tellingCalls = (tidAddress: number, sequences: Legacy['sequences'], how: number): Call[] => {
  const call = [syscallNumber.set_tid_address, tidAddress]
  return sequences ? [call, [syscallNumber.rseq, sequences[0], sequences[1], how, sequences[2]]] : [call]
}
