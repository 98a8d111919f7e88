/**
 * rtnetlink (rtnetlink(7)): the requests that nodes' networks need, without a process for each. All act in the network
 * namespace in which the thread was when it opened the socket.
 */
import { bytesOfAddress } from './address.ts'
import { AF_INET, AF_INET6, close, libc, recv, requireSuccess, SystemError, send, socket } from './libc.ts'

const AF_NETLINK = 16
const SOCK_RAW_CLOEXEC = 3 | 0o2000000
const NETLINK_ROUTE = 0

const RTM_NEWLINK = 16
const RTM_NEWADDR = 20
const RTM_NEWROUTE = 24
const RTM_DELROUTE = 25
const NLM_F_REQUEST_ACK = 0x01 | 0x04
const NLM_F_CREATE_EXCL = 0x400 | 0x200
const NLM_F_REPLACE = 0x400 | 0x100

const IFF_UP = 1
const IFLA_IFNAME = 3
const IFLA_MTU = 4
const IFLA_MASTER = 10
const IFLA_TXQLEN = 13
const IFLA_LINKINFO = 18
const IFLA_NET_NS_FD = 28
const IFLA_INFO_KIND = 1
const IFLA_INFO_DATA = 2
const VETH_INFO_PEER = 1
const IFA_ADDRESS = 1
const IFA_LOCAL = 2
/** Nobody else can have it. */
const IFA_F_NODAD = 2
const RTA_DST = 1
const RTA_OIF = 4
const RTA_PREFSRC = 7
const RTA_METRICS = 8
const RTAX_LOCK = 1
const RTAX_RTO_MIN = 13
const RTAX_QUICKACK = 15
const RT_TABLE_MAIN = 254
const RT_TABLE_LOCAL = 255
const RTPROT_KERNEL = 2
const RT_SCOPE_HOST = 254
const RTN_LOCAL = 2
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

  /** Does some work in this thread's present network namespace. */
  static use<Result>(work: (netlink: Netlink) => Result, family: number = NETLINK_ROUTE): Result {
    const fd = requireSuccess('socket(AF_NETLINK)', socket(AF_NETLINK, SOCK_RAW_CLOEXEC, family))
    try {
      return work(new Netlink(fd))
    } finally {
      close(fd)
    }
  }

  /** @throws Error if the namespace has no such interface */
  indexOf(name: string): number {
    const index = nameToIndex(name)
    if (index === 0) throw new Error(`this network namespace has no interface ${name}`)
    return index
  }

  /**
   * For an interface that is down. If it were up, or set up by the same request, the kernel would stop it, and wait until no CPU uses it.
   *
   * @param queueLength packets that may wait to be read
   */
  setLengths(index: number, mtu: number, queueLength: number): void {
    this.#request('set the lengths of the interface', RTM_NEWLINK, 0, [
      interfaceInfo(index),
      attribute(IFLA_MTU, uint32(mtu)),
      attribute(IFLA_TXQLEN, uint32(queueLength)),
    ])
  }

  setUp(index: number): void {
    this.#request('set the interface up', RTM_NEWLINK, 0, [interfaceInfo(index, IFF_UP)])
  }

  /** Gives the interface one IPv4 address, alone in its network (/32). */
  addAddress(index: number, address: number): void {
    const addressInfo = Buffer.from([AF_INET, 32, 0, 0, 0, 0, 0, 0])
    addressInfo.writeUInt32LE(index, 4)
    this.#request('add the address', RTM_NEWADDR, NLM_F_CREATE_EXCL, [
      addressInfo,
      attribute(IFA_LOCAL, bigEndian(address)),
      attribute(IFA_ADDRESS, bigEndian(address)),
    ])
  }

  /** Gives the interface one IPv6 address, at once. Returns false if this kernel has no IPv6. */
  addAddress6(index: number, address: number): boolean {
    const info = Buffer.from([AF_INET6, 128, IFA_F_NODAD, 0, 0, 0, 0, 0])
    info.writeUInt32LE(index, 4)
    return (
      this.exchange('add the address', RTM_NEWADDR, NLM_F_CREATE_EXCL, [
        info,
        attribute(IFA_ADDRESS, bytesOfAddress(address)),
      ]) === 0
    )
  }

  /** Makes an Ethernet switch. */
  addBridge(name: string): void {
    this.#addLink([attribute(IFLA_IFNAME, text(name)), linkInfo('bridge')])
  }

  /** Makes a pair of Ethernet devices: one attached to a bridge here, the other in another namespace. */
  addPair(name: string, bridge: number, peer: { readonly name: string; readonly namespace: number }): void {
    const other = attribute(
      VETH_INFO_PEER,
      Buffer.concat([
        interfaceInfo(0),
        attribute(IFLA_IFNAME, text(peer.name)),
        attribute(IFLA_NET_NS_FD, uint32(peer.namespace)),
      ]),
    )
    this.#addLink([
      attribute(IFLA_IFNAME, text(name)),
      attribute(IFLA_MASTER, uint32(bridge)),
      linkInfo('veth', attribute(IFLA_INFO_DATA, other)),
    ])
  }

  /**
   * Routes addresses to an interface on which their hosts are neighbours.
   *
   * @param bits that the addresses have in common
   *
   * @param source our address there
   */
  addRoute(index: number, address: number, bits: number, source: number): void {
    this.#request('add a route', RTM_NEWROUTE, NLM_F_CREATE_EXCL, [
      routeInfo(bits),
      attribute(RTA_DST, bigEndian(address)),
      attribute(RTA_OIF, uint32(index)),
      attribute(RTA_PREFSRC, bigEndian(source)),
    ])
  }

  removeRoute(index: number, address: number, bits: number): void {
    this.#request('remove a route', RTM_DELROUTE, 0, [
      routeInfo(bits),
      attribute(RTA_DST, bigEndian(address)),
      attribute(RTA_OIF, uint32(index)),
    ])
  }

  /**
   * Routes everything to the interface. With `retransmitAfterMs`, TCP acknowledges at once and retransmits only after
   * that time.
   */
  addDefaultRoute(index: number, retransmitAfterMs?: number): void {
    this.#request('add the default route', RTM_NEWROUTE, NLM_F_CREATE_EXCL, [
      routeInfo(0),
      attribute(RTA_OIF, uint32(index)),
      ...(retransmitAfterMs === undefined ? [] : [attribute(RTA_METRICS, patientMetrics(retransmitAfterMs))]),
    ])
  }

  /** Routes the IPv6 addresses of hosts to the interface, in the same way. No others can be reached. */
  addRoute6(index: number, address: number, retransmitAfterMs: number): void {
    this.#request('add a route', RTM_NEWROUTE, NLM_F_CREATE_EXCL, [
      routeInfo(96, AF_INET6),
      attribute(RTA_DST, bytesOfAddress(address)),
      attribute(RTA_OIF, uint32(index)),
      attribute(RTA_METRICS, patientMetrics(retransmitAfterMs)),
    ])
  }

  /** Makes TCP acknowledge at once for these addresses of the namespace itself, for which it has a route already. */
  acknowledgeAtOnce(index: number, address: number, bits: number, source = address): void {
    this.#request('change a local route', RTM_NEWROUTE, NLM_F_REPLACE, [
      Buffer.from([AF_INET, bits, 0, 0, RT_TABLE_LOCAL, RTPROT_KERNEL, RT_SCOPE_HOST, RTN_LOCAL, 0, 0, 0, 0]),
      attribute(RTA_DST, bigEndian(address)),
      attribute(RTA_OIF, uint32(index)),
      attribute(RTA_PREFSRC, bigEndian(source)),
      attribute(RTA_METRICS, attribute(RTAX_QUICKACK, uint32(1))),
    ])
  }

  /** The same for ::1, if the namespace has it. The kernel made that route and allows no change, so it is replaced. */
  acknowledgeLoopback6AtOnce(index: number): void {
    const route = [
      Buffer.from([AF_INET6, 128, 0, 0, RT_TABLE_LOCAL, RTPROT_KERNEL, 0, RTN_LOCAL, 0, 0, 0, 0]),
      attribute(RTA_DST, loopback6),
      attribute(RTA_OIF, uint32(index)),
    ]
    if (this.exchange('remove the route to ::1', RTM_DELROUTE, 0, route) !== 0) return
    const metrics = attribute(RTA_METRICS, attribute(RTAX_QUICKACK, uint32(1)))
    this.#request('route to ::1', RTM_NEWROUTE, NLM_F_CREATE_EXCL, [...route, metrics])
  }

  #addLink(attributes: readonly Buffer[]): void {
    this.#request('add an interface', RTM_NEWLINK, NLM_F_CREATE_EXCL, [interfaceInfo(0), ...attributes])
  }

  #request(what: string, type: number, flags: number, parts: readonly Buffer[]): void {
    const error = this.exchange(what, type, flags, parts)
    if (error !== 0) throw new SystemError(`netlink: ${what}`, error)
  }

  /** Sends one request and returns the error number of the answer; 0 for success. */
  exchange(what: string, type: number, flags: number, parts: readonly Buffer[]): number {
    const message = Buffer.concat([Buffer.alloc(16), ...parts])
    message.writeUInt32LE(message.length, 0)
    message.writeUInt16LE(type, 4)
    message.writeUInt16LE(NLM_F_REQUEST_ACK | flags, 6)
    requireSuccess(`netlink: ${what}`, send(this.#fd, message, message.length, 0))
    requireSuccess(`netlink: ${what}`, recv(this.#fd, this.#answer, this.#answer.length, 0))
    // The answer is an nlmsgerr: the header, then the negated error number.
    return -this.#answer.readInt32LE(16)
  }
}

/** ::1 */
const loopback6 = Buffer.from('00000000000000000000000000000001', 'hex')

const patientMetrics = (retransmitAfterMs: number) =>
  Buffer.concat([
    attribute(RTAX_LOCK, uint32(1 << RTAX_RTO_MIN)),
    attribute(RTAX_RTO_MIN, uint32(retransmitAfterMs)),
    attribute(RTAX_QUICKACK, uint32(1)),
  ])

/** struct ifinfomsg */
const interfaceInfo = (index: number, flags = 0) => {
  const info = Buffer.alloc(16)
  info.writeInt32LE(index, 4)
  info.writeUInt32LE(flags, 8)
  info.writeUInt32LE(flags, 12)
  return info
}

const linkInfo = (kind: string, data = Buffer.alloc(0)) =>
  attribute(IFLA_LINKINFO, Buffer.concat([attribute(IFLA_INFO_KIND, text(kind)), data]))

/** struct rtmsg */
const routeInfo = (bits: number, family = AF_INET) =>
  Buffer.from([family, bits, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_LINK, RTN_UNICAST, 0, 0, 0, 0])

const bigEndian = (address: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(address)
  return bytes
}

const text = (value: string) => Buffer.from(`${value}\0`)

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** Length, type, value, padded to a multiple of four bytes. */
const attribute = (type: number, value: Buffer) => {
  const length = 4 + value.length
  const whole = Buffer.alloc(Math.ceil(length / 4) * 4)
  whole.writeUInt16LE(length, 0)
  whole.writeUInt16LE(type, 2)
  value.copy(whole, 4)
  return whole
}
