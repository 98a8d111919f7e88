import { constants } from 'node:fs'
import { ipv6Of, parseAddress } from './address.ts'
import { close, errno, ioctl, lastErrno, libc, open, read, requireSuccess, SystemError, write } from './libc.ts'
import type { PacketLink } from './link.ts'
import { hears } from './listeners.ts'
import type { NetworkNamespace } from './namespace.ts'
import { Netlink } from './netlink.ts'

const TUNSETIFF = 0x4004_54ca
const TUNSETPERSIST = 0x4004_54cb
const TUNSETOFFLOAD = 0x4004_54d0
const TUN_F_CSUM = 0x01
const TUN_F_TSO4 = 0x02
const IFF_TUN = 0x0001
const IFF_NO_PI = 0x1000
const IFF_VNET_HDR = 0x4000

const setNumber = libc.func('int ioctl(int fd, unsigned long request, unsigned long number)')

/** The interface's name in the node. */
export const interfaceName = 'eth0'

/** Properties of a device as the node's kernel sees them. */
interface Device {
  readonly flags: number
  readonly mtu: number
  /** A packet that finds this many packets waiting is lost. */
  readonly queueLength: number
  /** Minimum time before TCP retransmits. If absent, the kernel decides that, and when to acknowledge. */
  readonly retransmitAfterMs?: number
}

const held: Device = {
  flags: IFF_TUN | IFF_NO_PI,
  // One segment holds a small message, so a node's write is rarely cut in two.
  mtu: 65_535,
  // Deep enough for bursts of 1,000 connections. A shorter queue would lose packets.
  queueLength: 50_000,
  // Longer than any pause of an execution. The router acknowledges at once, so nothing ever has to be sent again.
  retransmitAfterMs: 60_000,
}

const forwarded: Device = { flags: IFF_TUN | IFF_NO_PI | IFF_VNET_HDR, mtu: 1500, queueLength: 10_000 }

/**
 * Gives a namespace its only exit, a TUN device with `address`, and returns our end. When the link is closed, the node
 * hears nothing more.
 *
 * @throws SystemError if /dev/net/tun may not be opened or the caller lacks CAP_NET_ADMIN in the namespace
 */
export const openTun = (namespace: NetworkNamespace, address: string): PacketLink =>
  new Tun(openDevice(namespace, address, held), namespace)

/**
 * The same for packets to forward, each after a struct virtio_net_hdr.
 *
 * @returns a descriptor; `closeTun` closes it
 *
 * @throws SystemError
 */
export const openForwardedTun = (namespace: NetworkNamespace, address: string): number =>
  openDevice(namespace, address, forwarded)

/** Whether the node's kernel may leave checksums and the splitting of large packets to the receiver. */
export const setOffloads = (fd: number, areOn: boolean): void => {
  requireSuccess('ioctl(TUNSETOFFLOAD)', setNumber(fd, TUNSETOFFLOAD, areOn ? TUN_F_CSUM | TUN_F_TSO4 : 0))
}

/**
 * Closes our end. The device hears nothing more, and disappears with its namespace, for which nobody waits. The kernel would
 * need 20 ms to remove it at once.
 */
export const closeTun = (fd: number): void => {
  requireSuccess('ioctl(TUNSETPERSIST)', setNumber(fd, TUNSETPERSIST, 1))
  close(fd)
}

const localhost = 0x7f00_0001

const openDevice = (namespace: NetworkNamespace, address: string, device: Device): number => {
  const numeric = parseAddress(address)
  return namespace.run(() => {
    const fd = requireSuccess(
      'open /dev/net/tun',
      open('/dev/net/tun', constants.O_RDWR | constants.O_NONBLOCK | 0o2000000 /* O_CLOEXEC */, 0),
    )
    try {
      requireSuccess('ioctl(TUNSETIFF)', ioctl(fd, TUNSETIFF, interfaceRequest(device.flags)))
      configure(numeric, device)
    } catch (error) {
      close(fd)
      throw error
    }
    return fd
  })
}

const interfaceRequest = (flags: number) => {
  const request = Buffer.alloc(40)
  request.write(interfaceName)
  request.writeUInt16LE(flags, 16)
  return request
}

const configure = (address: number, { mtu, queueLength, retransmitAfterMs }: Device) =>
  Netlink.use(netlink => {
    const index = netlink.indexOf(interfaceName)
    netlink.setLengths(index, mtu, queueLength)
    netlink.setUp(index)
    netlink.addAddress(index, address)
    netlink.addDefaultRoute(index, retransmitAfterMs)
    if (retransmitAfterMs === undefined) return
    if (netlink.addAddress6(index, ipv6Of(address))) netlink.addRoute6(index, ipv6Of(0), retransmitAfterMs)
    netlink.acknowledgeAtOnce(index, address, 32)
    const loopback = netlink.indexOf('lo')
    netlink.acknowledgeAtOnce(loopback, localhost, 32)
    netlink.acknowledgeAtOnce(loopback, localhost & 0xff00_0000, 8, localhost)
    netlink.acknowledgeLoopback6AtOnce(loopback)
  })

const nothingToRead = [errno.EAGAIN, errno.EINTR]

class Tun implements PacketLink {
  #fd: number
  readonly #namespace: NetworkNamespace

  constructor(fd: number, namespace: NetworkNamespace) {
    this.#fd = fd
    this.#namespace = namespace
  }

  get descriptor(): number {
    return this.#fd
  }

  read(into: Buffer): number {
    return readPacket(this.#fd, into, nothingToRead)
  }

  write(packet: Buffer, length: number): void {
    requireSuccess('write to the TUN', write(this.#fd, packet, length))
  }

  hears(destination: number, port: number): boolean {
    return this.#namespace.run(() => hears(interfaceName, destination, port))
  }

  close(): void {
    if (this.#fd === -1) return
    closeTun(this.#fd)
    this.#fd = -1
  }
}

/**
 * Reads the next packet from a TUN device and returns its length; 0 if there is none.
 *
 * @param meaningNone errors that only mean that there is none
 *
 * @throws SystemError
 */
export const readPacket = (fd: number, into: Buffer, meaningNone: readonly number[]): number => {
  const length = readOnce(fd, into, meaningNone)
  // V8 may give memory back between the call and the question for its errno, and that sets ENOMEM. A true error comes again.
  const again = length instanceof SystemError ? readOnce(fd, into, meaningNone) : length
  if (again instanceof SystemError) throw again
  return again
}

const readOnce = (fd: number, into: Buffer, meaningNone: readonly number[]): number | SystemError => {
  const length = read(fd, into, into.length)
  if (length >= 0) return length
  const number = lastErrno()
  return meaningNone.includes(number) ? 0 : new SystemError('read from the TUN', number)
}
