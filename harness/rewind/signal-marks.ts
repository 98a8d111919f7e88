import type { HeldThread } from '../hold/held-node.ts'
import { signalsOf } from '../hold/signals.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { type Call, makeCalls } from './batch.ts'
import { CannotRewind } from './error.ts'

/** struct sigaction, as the kernel stores it. Zeros are the default. */
const actionLength = 32
const maskLength = 8

/** How a frozen process treats signals. */
export class SignalMarks {
  readonly #pending: string
  /** Actions of the signals that it catches or ignores. */
  readonly #actions: ReadonlyMap<number, Buffer>

  /** The thread's registers are lost. */
  constructor(thread: HeldThread) {
    const { treated, pending } = signalsOf(thread.process.pid)
    this.#pending = pending
    this.#actions = defaults(treated)
    makeCalls(
      thread,
      [...this.#actions].map(([signal, action]): Call => [syscallNumber.rt_sigaction, signal, 0, action, maskLength]),
    )
  }

  /**
   * Restores how it treats signals. The thread's registers are lost. @throws CannotRewind if other signals are pending
   */
  rewind(thread: HeldThread): void {
    const { treated, pending } = signalsOf(thread.process.pid)
    if (pending !== this.#pending) throw new CannotRewind('other signals are pending')
    const actions = new Map([...defaults(treated), ...this.#actions])
    makeCalls(
      thread,
      [...actions].map(([signal, action]): Call => [syscallNumber.rt_sigaction, signal, action, 0, maskLength]),
    )
  }
}

const defaults = (signals: readonly number[]): Map<number, Buffer> =>
  new Map(signals.map(signal => [signal, Buffer.alloc(actionLength)]))
