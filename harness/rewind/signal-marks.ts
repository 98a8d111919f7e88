import { signalsIn } from '../../linux/signals.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import type { RawCall } from './calls/batch.ts'
import { CannotRewind } from './calls/error.ts'

/** struct sigaction, as the kernel stores it. Zeros are the default. */
const actionLength = 32
const maskLength = 8

/** How a frozen process treats signals. */
export class SignalMarks {
  readonly #pending: string
  /** Actions of the signals that it catches or ignores. They are known once the calls have been made. */
  readonly #actions: ReadonlyMap<number, Buffer>

  /** @param status content of its /proc/P/status */
  constructor(status: string) {
    const { treated, pending } = signalsIn(status)
    this.#pending = pending
    this.#actions = defaults(treated)
  }

  /** Calls that the process must make once, in which it says how it treats them. */
  get calls(): RawCall[] {
    return [...this.#actions].map(([signal, action]) => [syscallNumber.rt_sigaction, signal, 0, action, maskLength])
  }

  /** Whether a signal was pending. */
  get hasPending(): boolean {
    return /:\s*0*[1-9a-f]/.test(this.#pending)
  }

  /**
   * System calls that restore the process's treatment of signals.
   *
   * @param status content of its present /proc/P/status
   *
   * @throws CannotRewind if other signals are pending
   */
  callsToRewind(status: string): RawCall[] {
    const { treated, pending } = signalsIn(status)
    if (pending !== this.#pending) throw new CannotRewind('other signals are pending')
    const actions = new Map([...defaults(treated), ...this.#actions])
    return [...actions].map(([signal, action]) => [syscallNumber.rt_sigaction, signal, action, 0, maskLength])
  }
}

const defaults = (signals: readonly number[]): Map<number, Buffer> =>
  new Map(signals.map(signal => [signal, Buffer.alloc(actionLength)]))
