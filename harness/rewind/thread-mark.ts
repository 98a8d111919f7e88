import type { HeldThread } from '../hold/held-node.ts'
import { interruptedResults } from '../hold/interrupted.ts'
import {
  getExtendedState,
  getSignalMask,
  pendingOf,
  Registers,
  setExtendedState,
  setSignalMask,
} from '../hold/ptrace.ts'
import type { RandomnessMark } from '../hold/randomness.ts'
import { CannotRewind } from './error.ts'
import { type Legacy, leavesNoLock, legacyOf, showEnd, takeEndBack } from './kept-thread.ts'
import { SignalStack } from './signal-stack.ts'

/** Length of the instruction `syscall`. */
const callLength = 2

/**
 * The registers with which a frozen thread that waits makes the call in which it waits.
 *
 * @throws CannotRewind where it does something else than wait
 */
export const registersBeforeWait = (tid: number): Registers => {
  const registers = new Registers()
  if (!registers.load(tid)) throw new CannotRewind('a thread has ended')
  const call = registers.get('origRax')
  if (call < 0 || !interruptedResults.has(registers.get('rax'))) throw new CannotRewind('a thread does not wait')
  callAgain(registers)
  return registers
}

const callAgain = (registers: Registers): void => {
  registers.set('rip', registers.get('rip') - callLength)
  registers.set('rax', registers.get('origRax'))
  registers.set('origRax', -1)
}

/** A thread that waits, frozen: about to make the call in which it waits. */
export class ThreadMark {
  readonly thread: HeldThread
  readonly #registers: Registers
  readonly #extended: Buffer
  readonly #signalMask: Buffer
  readonly #resumed: HeldThread['resumed']
  readonly #randomness: RandomnessMark
  readonly #legacy: Legacy | undefined
  /** Signals that are pending for it alone. */
  readonly #pending: readonly number[]
  /** Its stack for signals. */
  readonly #stack: SignalStack
  /** Of a kept thread, as it was about to end. */
  #end: Registers | undefined
  #hasEnded = false

  /** @throws CannotRewind where the thread does something else than wait */
  constructor(thread: HeldThread) {
    const { tid } = thread
    this.#registers = registersBeforeWait(tid)
    this.thread = thread
    this.#extended = getExtendedState(tid)
    this.#signalMask = getSignalMask(tid)
    this.#resumed = thread.resumed ?? thread.socketWait
    this.#randomness = thread.randomness.mark()
    this.#legacy = legacyOf(thread)
    this.#pending = pendingOf(tid)
    this.#stack = new SignalStack(thread)
    this.rewind()
  }

  /** Keeps the thread, which is about to end: the others see that it has ended. False where that is not possible. */
  keep(): boolean {
    const { thread } = this
    if (this.#hasEnded || this.#legacy === undefined || !leavesNoLock(thread, this.#legacy)) return false
    this.#end = new Registers()
    this.#end.load(thread.tid)
    callAgain(this.#end)
    showEnd(thread, this.#legacy)
    thread.stopped = { toSyscall: false, signal: 0 }
    return true
  }

  get isKept(): boolean {
    return this.#end !== undefined
  }

  /** Lets the thread, which is kept, end when it goes on. */
  letEnd(): void {
    this.#end!.store(this.thread.tid)
    this.#end = undefined
    this.#hasEnded = true
  }

  /** Its registers are lost. @throws CannotRewind where it cannot be brought back */
  rewindSignals(): void {
    if (pendingOf(this.thread.tid).join() !== this.#pending.join()) throw new CannotRewind('other signals are pending')
    this.#stack.rewind(this.thread)
  }

  /** It makes the call again when it goes on. */
  rewind(): void {
    const { tid, randomness } = this.thread
    if (this.#end) takeEndBack(this.thread, this.#legacy!)
    this.#end = undefined
    this.#registers.store(tid)
    setExtendedState(tid, this.#extended)
    setSignalMask(tid, this.#signalMask)
    randomness.rewind(this.#randomness)
    this.thread.resumed = this.#resumed
    this.thread.forgetWait()
    this.thread.interrupted = false
    this.thread.napping = false
    this.thread.spinsAside = false
    this.thread.stopped = { toSyscall: false, signal: 0 }
  }
}
