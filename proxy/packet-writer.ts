import { ipv6Of, isIpv6 } from '../linux/address.ts'
import type { DatagramMessage } from './datagrams.ts'
import { endKey, type Host, type Hosts } from './hosts.ts'
import {
  type Datagram,
  encodeDatagram,
  encodePortUnreachable,
  encodeSegment,
  flag,
  packetLengthMax,
  type Segment,
} from './packets/packet.ts'

type Ports = Pick<DatagramMessage, 'sourcePort' | 'destinationPort' | 'isSix'>

/** Puts packets for nodes' kernels into their outboxes. */
export class PacketWriter {
  readonly #hosts: Hosts
  readonly #buffer = Buffer.alloc(packetLengthMax)

  constructor(hosts: Hosts) {
    this.#hosts = hosts
  }

  segment(to: Host, segment: Segment): void {
    const { source, sourcePort, destinationPort, flags, payload } = segment
    const peer = this.#hosts.at(source)
    const connection = peer && endKey(peer, destinationPort, sourcePort, isIpv6(source))
    this.#write(to, into => encodeSegment(into, segment), connection, flags === flag.ACK && payload.length === 0)
  }

  datagram(from: Host, to: Host, datagram: Ports & Pick<DatagramMessage, 'bytes' | 'timeToLive'>): void {
    const { sourcePort, destinationPort, bytes: payload, timeToLive, isSix } = datagram
    const addresses = { source: addressOf(from, isSix), destination: addressOf(to, isSix) }
    const packet = { kind: 'udp', ...addresses, sourcePort, destinationPort, payload } as const
    this.#write(to, into => encodeDatagram(into, packet, timeToLive))
  }

  /** A packet as it is. */
  whole(to: Host, packet: Buffer): void {
    this.#write(to, into => packet.copy(into))
  }

  /** Quotes the datagram of `to` that it answers, without its payload. */
  unreachable(from: Host, to: Host, { sourcePort, destinationPort, isSix }: Ports): void {
    const addresses = { source: addressOf(to, isSix), destination: addressOf(from, isSix) }
    const answered = { ...addresses, sourcePort, destinationPort, payload: noBytes }
    this.#write(to, into => encodePortUnreachable(into, answered))
  }

  /** Answers a datagram of `to`, from where it was sent to. */
  answer(to: Host, { source, destination, sourcePort, destinationPort }: Datagram, payload: Buffer): void {
    const back = { source: destination, destination: source, sourcePort: destinationPort, destinationPort: sourcePort }
    this.#write(to, into => encodeDatagram(into, { kind: 'udp', ...back, payload }))
  }

  /** Answers a datagram to an address without a host. */
  unreachableAddress(to: Host, datagram: Datagram): void {
    const answered = { ...datagram, payload: Buffer.from(datagram.payload) }
    this.#write(to, into => encodePortUnreachable(into, answered))
  }

  #write(to: Host, encode: (into: Buffer) => number, connection?: number, isAcknowledgement = false): void {
    const write = () => to.link?.write(this.#buffer, encode(this.#buffer))
    to.outbox.send({ write, connection, isAcknowledgement })
  }
}

const noBytes = Buffer.alloc(0)

const addressOf = ({ address }: Host, isSix = false): number => (isSix ? ipv6Of(address) : address)
