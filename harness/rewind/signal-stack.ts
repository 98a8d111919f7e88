import type { HeldThread } from '../hold/held-node.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { makeCalls, succeed } from './batch.ts'

/** stack_t: address, flags and size. */
const length = 24

/** Which stack each thread had when that was last known: it has set another since where it says so. */
const known = new WeakMap<HeldThread, Buffer>()

/** On which stack a thread handles signals. The kernel tells nobody else. */
export class SignalStack {
  readonly #value = Buffer.alloc(length)

  /** @param thread frozen; its registers are lost */
  constructor(thread: HeldThread) {
    makeCalls(thread, [[syscallNumber.sigaltstack, 0, this.#value]])
    this.#isKnown(thread)
  }

  /** The thread has it again; its registers are lost. @throws CannotRewind */
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
