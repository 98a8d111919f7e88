import { errno, lastErrno, SystemError, write } from '../libc.ts'
import { readPacket } from '../packet-device.ts'
import type { Port } from './router.ts'

/** The device is being taken down. */
const EBADFD = 77
/** There is nothing now, or the device is down. */
const nothing = [errno.EAGAIN, errno.EINTR, errno.EIO, EBADFD]

/** Our end of a TUN device, whose descriptor belongs to another thread. */
export class TunPort implements Port {
  readonly #fd: number

  constructor(fd: number) {
    this.#fd = fd
  }

  read(into: Buffer): number {
    return readPacket(this.#fd, into, nothing)
  }

  write(packet: Buffer, length: number): void {
    if (write(this.#fd, packet, length) >= 0) return
    const number = lastErrno()
    // The kernel refuses what no kernel would have sent, as after a bit was turned over: nobody hears it.
    if (number !== errno.EINVAL && !nothing.includes(number)) throw new SystemError('write to the TUN', number)
  }
}
