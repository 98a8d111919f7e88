import { withDuplicate } from '../../linux/descriptor.ts'
import { close, libc, requireSuccess } from '../../linux/libc.ts'
import { getNumber } from '../../linux/socket-option.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import type { HeldThread } from '../hold/held/held-node.ts'
import { makeCalls, type RawCall } from './calls/batch.ts'
import { CannotRewind } from './calls/error.ts'
import { ownAddressOf } from './socket-address.ts'
import { backlogOf, socketOption, waitingOf } from './socket-options.ts'

const accept = libc.func('int accept(int fd, void *address, void *length)')

const bothWays = 2

/** A listening socket. It can be shut as if it were closed, and the same one opened again. */
export class Listener {
  readonly fd: number
  readonly #pid: number
  readonly #name: Buffer
  /** Size of its backlog. */
  readonly #backlog: number

  constructor(pid: number, fd: number) {
    this.fd = fd
    this.#pid = pid
    const { name, backlog } = withDuplicate(pid, fd, own => ({ name: ownAddressOf(own), backlog: backlogOf(own) }))!
    this.#name = name
    this.#backlog = backlog
  }

  /** The call after which nobody reaches it. */
  get shutting(): RawCall {
    return [syscallNumber.shutdown, this.fd, bothWays]
  }

  /** Discards connections that wait to be accepted. All of them are over. */
  forgetWaiting(): void {
    withDuplicate(this.#pid, this.fd, own => {
      for (let waiting = waitingOf(own); waiting > 0; waiting--)
        close(requireSuccess('accept', accept(own, null, null)))
    })
  }

  /** Makes a shut socket listen again. The thread's registers are lost. @throws CannotRewind */
  openAgain(thread: HeldThread): void {
    const { fd } = this
    if (withDuplicate(this.#pid, fd, own => getNumber(own, socketOption.accepts)) !== 0) return
    const [, opened] = makeCalls(thread, [
      // A port that the kernel chose was released by shutting. A port that the program chose was not, so this call
      // fails.
      [syscallNumber.bind, fd, this.#name, this.#name.length],
      [syscallNumber.listen, fd, this.#backlog],
    ])
    const isSame = opened === 0 && withDuplicate(this.#pid, fd, ownAddressOf)?.equals(this.#name)
    if (!isSame) throw new CannotRewind(`descriptor ${fd} cannot listen again: ${opened}`)
  }
}
