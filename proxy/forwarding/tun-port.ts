import { errno, lastErrno, read, SystemError, write } from '../libc.ts'
import type { Port } from './router.ts'

/** The device is being taken down. */
const EBADFD = 77

/** Our end of a TUN device, whose descriptor belongs to another thread. */
export class TunPort implements Port {
  readonly #fd: number

  constructor(fd: number) {
    this.#fd = fd
  }

  read(into: Buffer): number {
    const length = read(this.#fd, into, into.length)
    if (length >= 0) return length
    const number = lastErrno()
    if (isNothing(number)) return 0
    throw new SystemError('read from the TUN', number)
  }

  write(packet: Buffer, length: number): void {
    if (write(this.#fd, packet, length) >= 0) return
    const number = lastErrno()
    // The kernel refuses what no kernel would have sent, as after a bit was turned over: nobody hears it.
    if (number !== errno.EINVAL && !isNothing(number)) throw new SystemError('write to the TUN', number)
  }
}

/** There is nothing now, or the device is down. */
const isNothing = (number: number) =>
  number === errno.EAGAIN || number === errno.EINTR || number === errno.EIO || number === EBADFD
