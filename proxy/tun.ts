import { constants } from 'node:fs'
import { parseAddress } from './address.ts'
import { check, close, errno, ioctl, lastErrno, open, read, SystemError, write } from './libc.ts'
import type { Link } from './link.ts'
import type { NetworkNamespace } from './namespace.ts'
import { Netlink } from './netlink.ts'

const TUNSETIFF = 0x4004_54ca
const IFF_TUN = 0x0001
const IFF_NO_PI = 0x1000

/** The name that the node sees. */
const interfaceName = 'eth0'
/** One segment carries what a small message has in it, so that a node's write is rarely cut in two. */
const mtu = 65_535
/** A packet that finds the queue full is lost, and TCP would notice: deep enough for bursts of 1,000 connections. */
const queueLength = 50_000
/** Longer than any execution may stop to think; the router acknowledges at once, so nothing has to be sent again. */
const retransmitAfterMs = 60_000

/**
 * Gives a namespace its one way out, a TUN device with `address`, and returns our end of it. The device goes when the
 * link is closed; the node then hears nothing more.
 *
 * @throws SystemError if /dev/net/tun may not be opened or the caller lacks CAP_NET_ADMIN in the namespace
 */
export const openTun = (namespace: NetworkNamespace, address: string): Link => {
  const numeric = parseAddress(address)
  return namespace.run(() => {
    const fd = check(
      'open /dev/net/tun',
      open('/dev/net/tun', constants.O_RDWR | constants.O_NONBLOCK | 0o2000000 /* O_CLOEXEC */, 0),
    )
    try {
      check('ioctl(TUNSETIFF)', ioctl(fd, TUNSETIFF, interfaceRequest()))
      configure(numeric)
    } catch (error) {
      close(fd)
      throw error
    }
    return new Tun(fd)
  })
}

const interfaceRequest = () => {
  const request = Buffer.alloc(40)
  request.write(interfaceName)
  request.writeUInt16LE(IFF_TUN | IFF_NO_PI, 16)
  return request
}

const configure = (address: number) => {
  const netlink = Netlink.open()
  try {
    const index = netlink.indexOf(interfaceName)
    netlink.setUp(index, { mtu, queueLength })
    netlink.addAddress(index, address)
    netlink.addDefaultRoute(index, retransmitAfterMs)
  } finally {
    netlink.close()
  }
}

class Tun implements Link {
  #fd: number

  constructor(fd: number) {
    this.#fd = fd
  }

  read(into: Buffer): number {
    const length = read(this.#fd, into, into.length)
    if (length >= 0) return length
    const number = lastErrno()
    if (number === errno.EAGAIN || number === errno.EINTR) return 0
    throw new SystemError('read from the TUN', number)
  }

  write(packet: Buffer, length: number): void {
    check('write to the TUN', write(this.#fd, packet, length))
  }

  close(): void {
    if (this.#fd === -1) return
    // The kernel waits until no CPU can see the device any more (up to 30 ms): another thread does that.
    close.async(this.#fd, () => undefined)
    this.#fd = -1
  }
}
