import { ioctl } from '../../linux/libc.ts'

const FIONREAD = 0x541b
const SIOCOUTQ = 0x5411
const SIOCOUTQNSD = 0x894b

const countBy =
  (request: number) =>
  (own: number): number => {
    const count = Buffer.alloc(4)
    return ioctl(own, request, count) === -1 ? 0 : count.readInt32LE()
  }

/** How many bytes can be read from a socket or pipe; for datagrams, of the first one. */
export const unreadIn = countBy(FIONREAD)

/** How many bytes a connection has sent that the other end has not acknowledged. */
export const unacknowledgedIn = countBy(SIOCOUTQ)

/** How many bytes a connection was given that it has not sent yet. */
export const unsentIn = countBy(SIOCOUTQNSD)
