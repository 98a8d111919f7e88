import { isForMany, isMulticast } from '../linux/address.ts'
import type { Connections } from './connections.ts'
import type { Cuts } from './cuts.ts'
import type { Datagrams, HeaderAndPayload } from './datagrams.ts'
import type { Endpoint } from './endpoint.ts'
import { endKey, type Host, type Hosts } from './hosts.ts'
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
} from './packet.ts'
import type { PacketWriter } from './packet-writer.ts'
import type { RouterOnWay } from './routers.ts'
import * as tcp from './tcp.ts'
import { age, answerTimeExceeded } from './time-to-live.ts'

/** Counts of packets that nobody receives. */
export interface Ignored {
  /** Requests for TCP connections to an address without a node; refused. */
  unknownConnections: number
  /** Datagrams to an address without a host; answered with "port unreachable". */
  unknownDatagrams: number
  /** Broadcasts and multicasts. Nodes are not asked which of them they want to receive. */
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
    else if (isForMany(packet.destination)) this.#ignoreForMany(from, packet)
    else if (packet.kind === 'other' || packet.source !== from.address) this.#ignoreOther(from, packet)
    else if (packet.kind === 'unreachable') this.#routeUnreachable(from, packet)
    else if (packet.kind === 'udp') this.#routeDatagram(from, packet)
    else if (packet.kind === 'tcp') this.#routeSegment(from, packet)
    else this.#routeEcho(from, packet, length)
  }

  /** Ignores IGMP, by which a kernel announces at random times what its programs want to receive. */
  #ignoreForMany({ name }: Host, { kind, destination }: Exclude<Packet, CorruptPacket>): void {
    this.#ignored.forMany += 1
    if (kind === 'udp') this.#note({ from: name, what: isMulticast(destination) ? 'multicast' : 'broadcast' })
  }

  #ignoreOther(from: Host, { kind, source }: Exclude<Packet, CorruptPacket>): void {
    this.#ignored.other += 1
    if (kind === 'other' && source === from.address) this.#note({ from: from.name, what: 'other' })
  }

  #note(what: NotCarried): void {
    this.#notCarried.set(`${what.what} ${what.from}`, what)
  }

  #routeDatagram(from: Host, datagram: Datagram): void {
    const { hosts, datagrams, cuts, writer } = this.#to
    const { sourcePort, destinationPort } = datagram
    const to = hosts.at(datagram.destination)
    if (to === undefined) {
      this.#ignored.unknownDatagrams += 1
      writer.unreachableAddress(from, datagram)
      return
    }
    const bytes = Buffer.from(datagram.payload)
    if (to.onDatagram) to.onDatagram({ from: from.name, sourcePort, port: destinationPort, payload: bytes })
    else if (cuts.has([from.name, to.name])) this.#ignored.cut += 1
    else {
      const message = { from: from.name, to: to.name, sourcePort, destinationPort, bytes }
      const routers = this.#pass(message)
      if (routers !== undefined)
        datagrams.hold({ kind: 'datagram', ...message, timeToLive: this.#buffer[8]! - routers })
    }
  }

  #routeEcho(from: Host, { kind, destination, payload }: Echo, length: number): void {
    const { hosts, datagrams, cuts } = this.#to
    const to = hosts.at(destination)
    if (to === undefined || to.onDatagram) this.#ignored.other += 1
    else if (cuts.has([from.name, to.name])) this.#ignored.cut += 1
    else {
      const ports = { sourcePort: 0, destinationPort: 0 }
      const message = { from: from.name, to: to.name, ...ports, bytes: Buffer.from(payload) }
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
  #pass({ from, to, sourcePort, destinationPort, bytes }: Omit<HeaderAndPayload, 'kind'>): number | undefined {
    const routers = this.#to.routersBetween(from, to)
    const timeToLive = this.#buffer[8]!
    if (timeToLive > routers.length) return routers.length
    const hop = Math.max(1, timeToLive)
    const { address, answers } = routers[hop - 1]!
    const length = answers ? answerTimeExceeded(this.#buffer, address, hop) : 0
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
      const ports = { sourcePort, destinationPort }
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
    const key = endKey(to, segment.sourcePort, segment.destinationPort)
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

const isOver = ({ side }: Endpoint): boolean => side === undefined || side.state === 'over'

const isAsking = ({ flags }: Segment): boolean => (flags & (flag.SYN | flag.ACK)) === flag.SYN
