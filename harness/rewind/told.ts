import { syscallNumber } from '../../linux/syscall-number.ts'
import type { HeldThread } from '../hold/held/held-node.ts'
import { makeCalls, succeed } from './calls/batch.ts'

/** What a thread has told the kernel about itself. The kernel shows it to the thread alone. */
export interface ThreadFacts {
  /** The stack on which it handles signals: a stack_t. */
  readonly stack: Buffer
  /** Address where the kernel writes zero when it ends; undefined if the kernel does not tell. */
  readonly tidAddress: number | undefined
}

/** struct stack_t: address, flags and size. */
const stackLength = 24
const getTidAddress = 40

/** What is known of each thread. It is outdated once the thread has told something else. */
const known = new WeakMap<HeldThread, ThreadFacts>()

/** Asks a frozen thread, unless it is known. The thread's registers are lost then. */
export const toldBy = (thread: HeldThread): ThreadFacts => {
  const before = knownOf(thread)
  if (before) return before
  const [stack, tidAddress] = [Buffer.alloc(stackLength), Buffer.alloc(8)]
  const [, result] = makeCalls(thread, [
    [syscallNumber.sigaltstack, 0, stack],
    [syscallNumber.prctl, getTidAddress, tidAddress],
  ])
  const told = { stack, tidAddress: result! < 0 ? undefined : Number(tidAddress.readBigUInt64LE()) }
  know(thread, told)
  return told
}

/** What is known of a thread; undefined if it must be asked. */
export const knownOf = (thread: HeldThread): ThreadFacts | undefined =>
  thread.hasToldAnew ? undefined : known.get(thread)

/**
 * Restores the stack for signals. The address is restored where threads end or are made again. The thread's registers
 * are lost. @throws CannotRewind
 */
export const tellAgain = (thread: HeldThread, told: ThreadFacts): void => {
  if (knownOf(thread)?.stack.equals(told.stack)) return
  succeed(thread, [[syscallNumber.sigaltstack, told.stack, 0]])
  know(thread, told)
}

const know = (thread: HeldThread, told: ThreadFacts): void => {
  known.set(thread, told)
  thread.hasToldAnew = false
}
