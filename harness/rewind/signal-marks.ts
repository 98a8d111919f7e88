import { readFileSync } from 'node:fs'
import type { HeldThread } from '../hold/held-node.ts'
import { treatedBy } from '../hold/signals.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { type Call, makeCalls } from './batch.ts'
import { CannotRewind } from './error.ts'

/** struct sigaction, as the kernel has it; zeros are the default. */
const actionLength = 32
const maskLength = 8

/** How a frozen process treats signals. */
export class SignalMarks {
  readonly #pid: number
  readonly #pending: string
  /** Of those that it catches or ignores. */
  readonly #actions: ReadonlyMap<number, Buffer>

  /** The thread's registers are lost. */
  constructor(thread: HeldThread) {
    this.#pid = thread.process.pid
    this.#pending = pendingOf(this.#pid)
    this.#actions = new Map(treatedBy(this.#pid).map(signal => [signal, Buffer.alloc(actionLength)]))
    makeCalls(
      thread,
      [...this.#actions].map(([signal, action]): Call => [syscallNumber.rt_sigaction, signal, 0, action, maskLength]),
    )
  }

  /** @throws CannotRewind where others are pending */
  check(): void {
    if (pendingOf(this.#pid) !== this.#pending) throw new CannotRewind('other signals are pending')
  }

  /** It treats them as it did. The thread's registers are lost. */
  rewind(thread: HeldThread): void {
    const actions = new Map<number, Buffer>(treatedBy(this.#pid).map(signal => [signal, Buffer.alloc(actionLength)]))
    for (const [signal, action] of this.#actions) actions.set(signal, action)
    makeCalls(
      thread,
      [...actions].map(([signal, action]): Call => [syscallNumber.rt_sigaction, signal, action, 0, maskLength]),
    )
  }
}

const pendingOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/status`, 'latin1')
    .split('\n')
    .filter(line => /^(SigPnd|ShdPnd):/.test(line))
    .join()
