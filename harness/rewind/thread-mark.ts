import {
  getExtendedState,
  getSignalMask,
  pendingSignalsOf,
  Registers,
  setExtendedState,
  setSignalMask,
} from '../../linux/ptrace.ts'
import type { HeldThread } from '../hold/held/held-node.ts'
import { interruptedResults } from '../hold/held/interrupted.ts'
import type { RandomnessMark } from '../hold/held/randomness.ts'
import { CannotRewind } from './calls/error.ts'
import { type Legacy, legacyOf } from './kept-thread.ts'
import type { Adopt, KnownThread } from './made-thread.ts'
import { knownOf, type ThreadFacts, tellAgain, toldBy } from './told.ts'

/**
 * The registers with which a frozen, waiting thread makes the call in which it waits.
 *
 * @throws CannotRewind if it does something other than wait
 */
export const registersBeforeWait = (tid: number): Registers => {
  const registers = new Registers()
  if (!registers.load(tid)) throw new CannotRewind('a thread has ended')
  const call = registers.get('origRax')
  if (call < 0 || !interruptedResults.has(registers.get('rax'))) throw new CannotRewind('a thread does not wait')
  registers.callAgain()
  return registers
}

/** A frozen thread that is about to make the call in which it waits. */
export class ThreadMark {
  readonly #known: KnownThread
  readonly #registers: Registers
  readonly #extended: Buffer
  readonly #signalMask: Buffer
  readonly #resumed: HeldThread['resumed']
  readonly #polls: HeldThread['polls']
  readonly #randomness: RandomnessMark
  /** What the kernel does in its memory when it ends; undefined if the kernel does not show it. */
  readonly legacy: Legacy | undefined
  /** Signals pending for this thread alone. */
  readonly #pending: readonly number[]
  readonly #told: ThreadFacts

  /** @throws CannotRewind if the thread does something other than wait */
  constructor(known: KnownThread) {
    const { thread } = known
    const { tid } = thread
    this.#registers = registersBeforeWait(tid)
    this.#known = known
    this.#extended = getExtendedState(tid)
    this.#signalMask = getSignalMask(tid)
    this.#resumed = thread.resumed ?? thread.socketWait
    this.#polls = thread.polls
    this.#randomness = thread.randomness.mark()
    this.#pending = pendingSignalsOf(tid)
    const isKnown = knownOf(thread) !== undefined
    this.#told = toldBy(thread)
    this.legacy = legacyOf(thread, this.#told)
    if (isKnown) this.#repeatCall()
    else this.rewind()
  }

  get thread(): HeldThread {
    return this.#known.thread
  }

  /** Its id in its node. */
  get id(): number {
    return this.#known.id
  }

  /** Restores an ended thread: see `KnownThread`. @throws CannotRewind */
  makeAgain(maker: HeldThread, adopt: Adopt): void {
    if (this.legacy === undefined) throw new CannotRewind('a thread has ended')
    this.#known.makeAgain(maker, adopt)
  }

  /** Call it for a restored thread, once its memory is restored. */
  tellAgain(): void {
    this.#known.tellAgain(this.legacy!)
  }

  /** Restores its signal state. Its registers are lost. @throws CannotRewind if that is not possible */
  rewindSignals(): void {
    if (pendingSignalsOf(this.thread.tid).join() !== this.#pending.join())
      throw new CannotRewind('other signals are pending')
    tellAgain(this.thread, this.#told)
  }

  /** Restores the thread's registers: when it continues, it repeats the call in which it waited. */
  rewind(): void {
    const { tid, randomness } = this.thread
    setExtendedState(tid, this.#extended)
    setSignalMask(tid, this.#signalMask)
    randomness.rewind(this.#randomness)
    this.#repeatCall()
  }

  /** Lets it repeat the call when it continues. */
  #repeatCall(): void {
    this.#registers.store(this.thread.tid)
    this.thread.resumed = this.#resumed
    this.thread.polls = this.#polls
    this.thread.forgetWait()
    this.thread.interrupted = false
    this.thread.napping = false
    this.thread.spinsAside = false
    this.thread.resumption = { toSyscall: false, signal: 0 }
  }
}
