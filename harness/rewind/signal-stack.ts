import type { HeldThread } from '../hold/held-node.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { makeCalls, succeed } from './batch.ts'

/** stack_t: address, flags and size. */
const length = 24

/** Each thread's last known stack. It is outdated if the thread has set another since. */
const known = new WeakMap<HeldThread, Buffer>()

/** The stack on which a thread handles signals. The kernel shows it to the thread alone. */
export class SignalStack {
  readonly #value = Buffer.alloc(length)

  /** @param thread frozen; its registers are lost */
  constructor(thread: HeldThread) {
    makeCalls(thread, [[syscallNumber.sigaltstack, 0, this.#value]])
    this.#isKnown(thread)
  }

  /** Restores the stack. The thread's registers are lost. @throws CannotRewind */
  rewind(thread: HeldThread): void {
    if (!thread.hasOtherStack && known.get(thread)?.equals(this.#value)) return
    succeed(thread, [[syscallNumber.sigaltstack, this.#value, 0]])
    this.#isKnown(thread)
  }

  #isKnown(thread: HeldThread): void {
    known.set(thread, this.#value)
    thread.hasOtherStack = false
  }
}
