import type { Registers } from '../../../linux/ptrace.ts'
import type { SyscallName } from '../../../linux/syscall-number.ts'
import type { Nanoseconds } from '../clock/virtual-clock.ts'
import type { HeldThread } from '../held/held-node.ts'

/**
 * How a thread goes on from a call that the filter stopped. `exit`: it must be stopped again at the call's exit. `nap`:
 * resumed once every other thread of the node waits. `yield`: others go first, whatever their rank.
 */
export type Continuation = 'go on' | 'exit' | 'nap' | 'yield'

/**
 * Treats a call at its filter stop: a number is its result, and the kernel does not make it; undefined lets the kernel
 * make it. The caller stores the registers.
 *
 * @param isRecorded whether every call is seen, as the program makes it
 */
export type Treat = (
  thread: HeldThread,
  registers: Registers,
  name: SyscallName,
  isRecorded: boolean,
) => Continuation | number | undefined

export type Treatments = { readonly [Name in SyscallName]?: Treat }

/** ERESTARTNOHAND: the call is entered again unless a signal handler runs. */
export const restart = -514
const noSuchCall = -1

/** Sets the result of a call that is not made. */
export const answerWith = (registers: Registers, result: number): void => {
  registers.set('origRax', noSuchCall)
  registers.set('rax', result)
}

/** A `struct timespec` or `timeval`. */
export const timespec = (seconds: number, rest: Nanoseconds): Buffer => {
  const bytes = Buffer.alloc(16)
  bytes.writeBigInt64LE(BigInt(seconds), 0)
  bytes.writeBigInt64LE(BigInt(rest), 8)
  return bytes
}
