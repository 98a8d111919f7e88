import { cont, getRestartableSequences, getRobustList, Registers } from '../../linux/ptrace.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import type { HeldThread } from '../hold/held/held-node.ts'
import { makeCalls, type RawCall } from './calls/batch.ts'
import type { ThreadFacts } from './told.ts'

/** Of struct robust_list_head. */
const robustListLength = 24
const wake = 1
const [register, unregister] = [0, 1]
const all = 0x7fff_ffff

/** What the kernel does in a thread's memory when the thread ends. */
export interface Legacy {
  /** Address where it writes zero and wakes waiters; 0 for none. */
  readonly tidAddress: number
  /** Address of a struct robust_list_head: the locks that the thread holds, which others then get; 0 for none. */
  readonly locks: number
  /** Where it tells the thread about interruptions until then. */
  readonly sequences: readonly [number, number, number] | undefined
}

/** Threads of a process that have ended as far as others see, but are kept just before their end. */
export class KeptThreads {
  /** By thread: the registers with which it would have ended, and its legacy. */
  readonly #kept = new Map<HeldThread, { readonly end: Registers; readonly legacy: Legacy }>()

  /** Keeps a thread that is about to end; returns false if that is not possible. */
  keep(thread: HeldThread, legacy: Legacy): boolean {
    if (!leavesNoLock(thread, legacy)) return false
    const end = new Registers()
    end.load(thread.tid)
    end.callAgain()
    this.#keep(thread, legacy, end)
    showEnd(thread, legacy)
    return true
  }

  /**
   * Keeps a waiting, frozen thread that had ended at the mark to which its process is rewound.
   *
   * @param waiting registers with which it repeats the call in which it waits
   */
  keepWaiting(thread: HeldThread, legacy: Legacy, waiting: Registers): void {
    waiting.set('rax', syscallNumber.exit)
    waiting.set('rdi', 0)
    this.#keep(thread, legacy, waiting)
    makeCalls(thread, tellingCalls(0, legacy.sequences, unregister))
  }

  #keep(thread: HeldThread, legacy: Legacy, end: Registers): void {
    this.#kept.set(thread, { end, legacy })
    thread.forgetWait()
    thread.process.threads.delete(thread)
    thread.resumption = { toSyscall: false, signal: 0 }
  }

  /** Stops keeping it. */
  forget(thread: HeldThread): void {
    this.#kept.delete(thread)
  }

  has(thread: HeldThread): boolean {
    return this.#kept.has(thread)
  }

  get all(): HeldThread[] {
    return [...this.#kept.keys()]
  }

  /** Undoes the thread's end. Its memory is restored already; its registers are lost. */
  takeBack(thread: HeldThread): void {
    const kept = this.#kept.get(thread)
    if (kept) takeEndBack(thread, kept.legacy)
    this.#kept.delete(thread)
  }

  /** Lets all of them end once they continue. */
  letEnd(): HeldThread[] {
    const threads = this.all
    for (const [{ tid }, { end }] of this.#kept) end.store(tid)
    this.#kept.clear()
    return threads
  }

  /** Ends all of them now, because the whole process will end. */
  end(): void {
    for (const { tid } of this.letEnd()) cont(tid)
  }
}

/** For a frozen thread; undefined if the kernel does not tell. */
export const legacyOf = ({ tid }: HeldThread, { tidAddress }: ThreadFacts): Legacy | undefined => {
  const locks = getRobustList(tid)
  return tidAddress === undefined || locks === undefined
    ? undefined
    : { tidAddress, locks, sequences: getRestartableSequences(tid) }
}

/**
 * Whether a thread leaves no lock to others, which a kept thread would never release: the list contains only its head,
 * and no lock is being taken.
 */
const leavesNoLock = ({ process }: HeldThread, { locks }: Legacy): boolean => {
  if (locks === 0) return true
  const head = process.memory.read(locks, robustListLength)
  return head.readBigUInt64LE() === BigInt(locks) && head.readBigUInt64LE(16) === 0n
}

/** Makes others see that a kept thread has ended: waiters continue, and may free its stack. */
const showEnd = (thread: HeldThread, { tidAddress, sequences }: Legacy): void => {
  makeCalls(thread, tellingCalls(0, sequences, unregister))
  if (tidAddress === 0) return
  thread.process.memory.write(tidAddress, Buffer.alloc(4))
  makeCalls(thread, [[syscallNumber.futex, tidAddress, wake, all]])
}

/**
 * Makes the kernel do in the memory of a thread made by us what it does for others. The thread's registers are lost.
 */
export const tellLegacy = (thread: HeldThread, { tidAddress, locks, sequences }: Legacy): void => {
  const calls = tellingCalls(tidAddress, sequences, register)
  makeCalls(thread, locks === 0 ? calls : [...calls, [syscallNumber.set_robust_list, locks, robustListLength]])
}

/** Undoes that. The thread's memory is restored already; its registers are lost. */
const takeEndBack = (thread: HeldThread, { tidAddress, sequences }: Legacy): void => {
  makeCalls(thread, tellingCalls(tidAddress, sequences, register))
}

/** Calls that tell the kernel where to write at the thread's end and until then. */
const tellingCalls = (tidAddress: number, sequences: Legacy['sequences'], how: number): RawCall[] => {
  const call = [syscallNumber.set_tid_address, tidAddress]
  return sequences ? [call, [syscallNumber.rseq, sequences[0], sequences[1], how, sequences[2]]] : [call]
}
