/**
 * rtnetlink (rtnetlink(7)): the four requests that a node's network needs, without a process for each.
 * All act in the network namespace that the thread was in when the socket was opened.
 */
import { AF_INET, check, close, libc, recv, SystemError, send, socket } from './libc.ts'

const AF_NETLINK = 16
const SOCK_RAW_CLOEXEC = 3 | 0o2000000
const NETLINK_ROUTE = 0

const RTM_NEWLINK = 16
const RTM_NEWADDR = 20
const RTM_NEWROUTE = 24
const NLM_F_REQUEST_ACK = 0x01 | 0x04
const NLM_F_CREATE_EXCL = 0x400 | 0x200

const IFF_UP = 1
const IFLA_MTU = 4
const IFLA_TXQLEN = 13
const IFA_ADDRESS = 1
const IFA_LOCAL = 2
const RTA_OIF = 4
const RTA_METRICS = 8
const RTAX_LOCK = 1
const RTAX_RTO_MIN = 13
const RTAX_QUICKACK = 15
const RT_TABLE_MAIN = 254
const RTPROT_STATIC = 4
const RT_SCOPE_LINK = 253
const RTN_UNICAST = 1

const nameToIndex: (name: string) => number = libc.func('unsigned int if_nametoindex(const char *name)')

export class Netlink {
  readonly #fd: number
  readonly #answer = Buffer.alloc(4096)

  private constructor(fd: number) {
    this.#fd = fd
  }

  static open(family: number = NETLINK_ROUTE): Netlink {
    return new Netlink(check('socket(AF_NETLINK)', socket(AF_NETLINK, SOCK_RAW_CLOEXEC, family)))
  }

  close(): void {
    close(this.#fd)
  }

  /** @throws Error where the namespace has no such interface */
  indexOf(name: string): number {
    const index = nameToIndex(name)
    if (index === 0) throw new Error(`this network namespace has no interface ${name}`)
    return index
  }

  /** @param queueLength packets that may wait to be read */
  setUp(index: number, { mtu, queueLength }: { mtu?: number; queueLength?: number } = {}): void {
    const interfaceInfo = Buffer.alloc(16)
    interfaceInfo.writeInt32LE(index, 4)
    interfaceInfo.writeUInt32LE(IFF_UP, 8)
    interfaceInfo.writeUInt32LE(IFF_UP, 12)
    this.#request('set the interface up', RTM_NEWLINK, 0, [
      interfaceInfo,
      ...(mtu === undefined ? [] : [attribute(IFLA_MTU, uint32(mtu))]),
      ...(queueLength === undefined ? [] : [attribute(IFLA_TXQLEN, uint32(queueLength))]),
    ])
  }

  /** Gives the interface one IPv4 address, alone in its network (/32). */
  addAddress(index: number, address: number): void {
    const addressInfo = Buffer.from([AF_INET, 32, 0, 0, 0, 0, 0, 0])
    addressInfo.writeUInt32LE(index, 4)
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(address)
    this.#request('add the address', RTM_NEWADDR, NLM_F_CREATE_EXCL, [
      addressInfo,
      attribute(IFA_LOCAL, bytes),
      attribute(IFA_ADDRESS, bytes),
    ])
  }

  /** Routes everything to the interface; with `retransmitAfterMs` TCP acknowledges at once, and sends again only after it. */
  addDefaultRoute(index: number, retransmitAfterMs?: number): void {
    const route = Buffer.from([AF_INET, 0, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST, 0, 0, 0, 0])
    this.#request('add the default route', RTM_NEWROUTE, NLM_F_CREATE_EXCL, [
      route,
      attribute(RTA_OIF, uint32(index)),
      ...(retransmitAfterMs === undefined ? [] : [attribute(RTA_METRICS, patientMetrics(retransmitAfterMs))]),
    ])
  }

  #request(what: string, type: number, flags: number, parts: readonly Buffer[]): void {
    const error = this.exchange(what, type, flags, parts)
    if (error !== 0) throw new SystemError(`netlink: ${what}`, error)
  }

  /** Sends one request, and gives the error number of the answer; 0 for success. */
  exchange(what: string, type: number, flags: number, parts: readonly Buffer[]): number {
    const message = Buffer.concat([Buffer.alloc(16), ...parts])
    message.writeUInt32LE(message.length, 0)
    message.writeUInt16LE(type, 4)
    message.writeUInt16LE(NLM_F_REQUEST_ACK | flags, 6)
    check(`netlink: ${what}`, send(this.#fd, message, message.length, 0))
    check(`netlink: ${what}`, recv(this.#fd, this.#answer, this.#answer.length, 0))
    // The answer is an nlmsgerr: the header, then the negative error number, 0 for success.
    return -this.#answer.readInt32LE(16)
  }
}

const patientMetrics = (retransmitAfterMs: number) =>
  Buffer.concat([
    attribute(RTAX_LOCK, uint32(1 << RTAX_RTO_MIN)),
    attribute(RTAX_RTO_MIN, uint32(retransmitAfterMs)),
    attribute(RTAX_QUICKACK, uint32(1)),
  ])

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** Length, type, value. Every value here is a multiple of four bytes, so none needs padding. */
const attribute = (type: number, value: Buffer) => {
  const header = Buffer.alloc(4)
  header.writeUInt16LE(4 + value.length, 0)
  header.writeUInt16LE(type, 2)
  return Buffer.concat([header, value])
}
