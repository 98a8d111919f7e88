import { bytesOfAddress, ipv6Of, isForMany, isIpv6, isMulticast, parseAddress } from '../linux/address.ts'
import type { Connections } from './connections.ts'
import type { Cuts } from './cuts.ts'
import type { Datagrams, HeaderAndPayload } from './datagrams.ts'
import type { ChangingNames } from './dns/names.ts'
import { answerQuery, resolverAddress, resolverPort } from './dns/resolver.ts'
import type { Endpoint } from './endpoint.ts'
import { endKey, type Host, type Hosts } from './hosts.ts'
import type { PacketWriter } from './packet-writer.ts'
import { age, timeToLiveOf } from './packets/ip-header.ts'
import {
  type CorruptPacket,
  type Datagram,
  decode,
  type Echo,
  flag,
  type Packet,
  packetLengthMax,
  type Segment,
  type Unreachable,
} from './packets/packet.ts'
import type { RouterOnWay } from './routers.ts'
import * as tcp from './tcp.ts'
import { answerTimeExceeded } from './time-to-live.ts'

/** Counts of packets that nobody receives. */
export interface Ignored {
  /** Requests for TCP connections to an address without a node; refused. */
  unknownConnections: number
  /** Datagrams to an address without a host; answered with "port unreachable". */
  unknownDatagrams: number
  /** Broadcasts and multicasts that no other node listens to. */
  forMany: number
  /** Neither TCP, UDP nor an echo, fragments, or with a source address other than the host's. */
  other: number
  /** Datagrams and echoes to where the way is cut. */
  cut: number
}

/** What hosts sent that is not carried as intended; each kind at most once. */
export interface NotCarried {
  readonly from: string
  /**
   * `urgent`: sent with MSG_OOB, arrives like any other byte. `other`: a protocol other than TCP, UDP and
   * ICMP.
   */
  readonly what: 'broadcast' | 'multicast' | 'urgent' | 'other'
}

/** Limit on the packets of one host in a pump, so that the caller notices a flood. */
const packetsPerPumpMax = 4096

/** Destinations of packets from nodes' kernels. */
interface Destinations {
  readonly hosts: Hosts
  readonly connections: Connections
  readonly datagrams: Datagrams
  readonly cuts: Cuts
  readonly writer: PacketWriter
  readonly routersBetween: (from: string, to: string) => readonly RouterOnWay[]
  readonly names: ChangingNames
  /** The IPv4 address of the host of this name, in small letters. */
  readonly addressOf: (name: string) => number | undefined
}

/** Routes the packets from nodes' kernels: to connections, datagrams in flight, or virtual hosts. */
export class PacketReader {
  readonly #to: Destinations
  readonly #anomalies: tcp.Anomalies
  readonly #ignored: Ignored
  readonly #notCarried = new Map<string, NotCarried>()
  readonly #buffer = Buffer.alloc(packetLengthMax)

  constructor(to: Destinations, anomalies: tcp.Anomalies, ignored?: Ignored) {
    this.#to = to
    this.#anomalies = anomalies
    this.#ignored = { unknownConnections: 0, unknownDatagrams: 0, forMany: 0, other: 0, cut: 0, ...ignored }
  }

  ignored(): Ignored {
    return { ...this.#ignored }
  }

  notCarried(): readonly NotCarried[] {
    return [...this.#notCarried.values()]
  }

  /** Takes what the host has sent; returns false if that is nothing. */
  drain(host: Host): boolean {
    let packets = 0
    while (packets < packetsPerPumpMax && host.link !== undefined) {
      const length = host.link.read(this.#buffer)
      if (length === 0) break
      packets += 1
      this.#route(host, length)
    }
    return packets > 0
  }

  #route(from: Host, length: number): void {
    const packet = decode(this.#buffer, length)
    if (packet.kind === 'corrupt') this.#anomalies.corrupt += 1
    else if (isForMany(packet.destination)) this.#routeForMany(from, packet, length)
    else if (packet.kind === 'other' || !isOf(from, packet.source)) this.#ignoreOther(from, packet)
    else if (packet.kind === 'unreachable') this.#routeUnreachable(from, packet)
    else if (packet.kind === 'udp') this.#routeDatagram(from, packet)
    else if (packet.kind === 'tcp') this.#routeSegment(from, packet)
    else this.#routeEcho(from, packet, length)
  }

  /**
   * A datagram to a group becomes one message to each other node that listens. Ignores IGMP, by which a kernel
   * announces at random times what its programs want to receive.
   */
  #routeForMany(from: Host, packet: Exclude<Packet, CorruptPacket>, length: number): void {
    const { hosts, cuts } = this.#to
    const { destination } = packet
    const listeners =
      packet.kind === 'udp' && isOf(from, packet.source)
        ? [...hosts.all()].filter(host => host !== from && host.link?.hears?.(destination, packet.destinationPort))
        : []
    for (const to of listeners) {
      if (cuts.has([from.name, to.name])) this.#ignored.cut += 1
      else if (packet.kind === 'udp') this.#holdForMany(from, to, packet, length)
    }
    if (listeners.length > 0) return
    this.#ignored.forMany += 1
    if (packet.kind === 'udp')
      this.#note({ from: from.name, what: isMulticast(destination) ? 'multicast' : 'broadcast' })
  }

  /** Nobody answers where its time to live is over (RFC 1122, 3.2.2). */
  #holdForMany(from: Host, to: Host, { sourcePort, destinationPort, payload }: Datagram, length: number): void {
    if (this.#to.routersBetween(from.name, to.name).length >= timeToLiveOf(this.#buffer)) return
    const ways = { from: from.name, to: to.name, sourcePort, destinationPort }
    const packet = Buffer.from(this.#buffer.subarray(0, length))
    this.#to.datagrams.hold({ kind: 'datagram', ...ways, bytes: Buffer.from(payload), packet })
  }

  #ignoreOther(from: Host, { kind, source }: Exclude<Packet, CorruptPacket>): void {
    this.#ignored.other += 1
    if (kind === 'other' && isOf(from, source)) this.#note({ from: from.name, what: 'other' })
  }

  #note(what: NotCarried): void {
    this.#notCarried.set(`${what.what} ${what.from}`, what)
  }

  #routeDatagram(from: Host, datagram: Datagram): void {
    const { hosts, datagrams, cuts, writer } = this.#to
    const { sourcePort, destinationPort } = datagram
    const to = hosts.at(datagram.destination)
    if (datagram.destination === resolver && destinationPort === resolverPort) {
      this.#resolve(from, datagram)
      return
    }
    if (to === undefined) {
      this.#ignored.unknownDatagrams += 1
      writer.unreachableAddress(from, datagram)
      return
    }
    const bytes = Buffer.from(datagram.payload)
    if (to.onDatagram) to.onDatagram({ from: from.name, sourcePort, port: destinationPort, payload: bytes })
    else if (cuts.has([from.name, to.name])) this.#ignored.cut += 1
    else {
      const family = isIpv6(datagram.destination) ? { isSix: true } : {}
      const message = { from: from.name, to: to.name, sourcePort, destinationPort, bytes, ...family }
      const routers = this.#pass(message)
      if (routers !== undefined)
        datagrams.hold({ kind: 'datagram', ...message, timeToLive: timeToLiveOf(this.#buffer) - routers })
    }
  }

  /** Nobody has to wait for an answer: what programs ask is which hosts there are. */
  #resolve(from: Host, datagram: Datagram): void {
    const { names, addressOf } = this.#to
    const answer = answerQuery(datagram.payload, name => {
      const meant = names.hostOf(name)
      const address = name === 'localhost' ? localhost : addressOf(meant?.toLowerCase() ?? name)
      if (address === undefined) return undefined
      const A = bytesOfAddress(address)
      return {
        A,
        AAAA: address === localhost ? loopback6 : bytesOfAddress(ipv6Of(address)),
        mayChange: meant !== undefined,
      }
    })
    if (answer) this.#to.writer.answer(from, datagram, answer)
  }

  #routeEcho(from: Host, { kind, destination, payload }: Echo, length: number): void {
    const { hosts, datagrams, cuts } = this.#to
    const to = hosts.at(destination)
    if (to === undefined || to.onDatagram) this.#ignored.other += 1
    else if (cuts.has([from.name, to.name])) this.#ignored.cut += 1
    else {
      const ports = { sourcePort: 0, destinationPort: 0 }
      const isSix = isIpv6(destination)
      const message = { from: from.name, to: to.name, ...ports, bytes: Buffer.from(payload), ...(isSix && { isSix }) }
      const routers = this.#pass(message)
      if (routers === undefined) return
      age(this.#buffer, routers)
      datagrams.hold({ kind, ...message, packet: Buffer.from(this.#buffer.subarray(0, length)) })
    }
  }

  /**
   * Lets the packet in the buffer pass the routers of its way. Returns their number; undefined if its time to live is over
   * before. Then the router there answers.
   */
  #pass({ from, to, sourcePort, destinationPort, bytes, isSix }: Omit<HeaderAndPayload, 'kind'>): number | undefined {
    const routers = this.#to.routersBetween(from, to)
    const timeToLive = timeToLiveOf(this.#buffer)
    if (timeToLive > routers.length) return routers.length
    const hop = Math.max(1, timeToLive)
    const { address, answers } = routers[hop - 1]!
    // Routers have no IPv6 addresses, so they drop such a packet in silence.
    const length = answers && !isSix ? answerTimeExceeded(this.#buffer, address, hop) : 0
    if (length === 0) return undefined
    const packet = Buffer.from(this.#buffer.subarray(0, length))
    const end = { towards: to, hop, bytes: bytes.length }
    this.#to.datagrams.hold({
      kind: 'exceeded',
      from,
      to: from,
      sourcePort,
      destinationPort,
      bytes: noBytes,
      packet,
      end,
    })
    return undefined
  }

  /** Routes a kernel's message that a datagram found no receiver to the datagram's sender. */
  #routeUnreachable(from: Host, { destination, sourcePort, destinationPort }: Unreachable): void {
    const { hosts, datagrams, cuts } = this.#to
    const to = hosts.at(destination)
    if (to === undefined || to.onDatagram) this.#ignored.other += 1
    else if (cuts.has([from.name, to.name])) this.#ignored.cut += 1
    else {
      const ports = { sourcePort, destinationPort, ...(isIpv6(destination) && { isSix: true }) }
      datagrams.hold({ kind: 'unreachable', from: from.name, to: to.name, ...ports, bytes: noBytes })
    }
  }

  #routeSegment(from: Host, segment: Segment): void {
    if (segment.flags & flag.URG) this.#note({ from: from.name, what: 'urgent' })
    const to = this.#to.hosts.at(segment.destination)
    if (to && this.#arrive(from, to, segment)) return
    if (isAsking(segment) && to !== undefined && !to.onDatagram) {
      this.#to.connections.open(from, to, segment)
      return
    }
    if (isAsking(segment)) this.#ignored.unknownConnections += 1
    tcp.reject(segment, from)
  }

  /** Passes a segment to the counterpart of its connection; returns false if there is none. */
  #arrive(from: Host, to: Host, segment: Segment): boolean {
    const facing: Map<number, Endpoint> = to.onDatagram ? from.streams : from.ends
    const key = endKey(to, segment.sourcePort, segment.destinationPort, isIpv6(segment.destination))
    const end = facing.get(key)
    if (end?.side === undefined) return false
    const wasOver = isOver(end)
    const isReused = isAsking(segment) && tcp.isAnother(end.side, segment)
    // The node's kernel forgot the connection and reuses its port for a new one.
    if (isReused) end.arrive(tcp.forgotten(end.side))
    else if (!wasOver) end.arrive(tcp.receive(end.side, segment, from))
    if (isOver(end)) facing.delete(key)
    return !isReused && !wasOver
  }
}

const noBytes = Buffer.alloc(0)
const resolver = parseAddress(resolverAddress)
const localhost = parseAddress('127.0.0.1')
/** ::1 */
const loopback6 = Buffer.from('00000000000000000000000000000001', 'hex')

const isOf = ({ address }: Host, source: number): boolean => source === address || source === ipv6Of(address)

const isOver = ({ side }: Endpoint): boolean => side === undefined || side.state === 'over'

const isAsking = ({ flags }: Segment): boolean => (flags & (flag.SYN | flag.ACK)) === flag.SYN
