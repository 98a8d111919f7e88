import { errno, lastErrno, SystemError, write } from '../../linux/libc.ts'
import { readPacket } from '../../linux/tun.ts'
import type { Port } from './router.ts'

/** The device is being taken down. */
const EBADFD = 77
/** Errors that mean no packet now, or a device that is down. */
const nothing = [errno.EAGAIN, errno.EINTR, errno.EIO, EBADFD]

/** Our end of a TUN device. The descriptor belongs to another thread. */
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
    // The kernel refuses packets that no kernel would have sent, for example after a flipped bit. They are lost.
    if (number !== errno.EINVAL && !nothing.includes(number)) throw new SystemError('write to the TUN', number)
  }
}
