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
} from './packet.ts'

type Ports = Pick<DatagramMessage, 'sourcePort' | 'destinationPort'>

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
    const connection = peer && endKey(peer, destinationPort, sourcePort)
    this.#write(to, into => encodeSegment(into, segment), connection, flags === flag.ACK && payload.length === 0)
  }

  datagram(from: Host, to: Host, datagram: Ports & Pick<DatagramMessage, 'bytes' | 'timeToLive'>): void {
    const { sourcePort, destinationPort, bytes: payload, timeToLive } = datagram
    const addresses = { source: from.address, destination: to.address }
    const packet = { kind: 'udp', ...addresses, sourcePort, destinationPort, payload } as const
    this.#write(to, into => encodeDatagram(into, packet, timeToLive))
  }

  /** A packet as it is. */
  whole(to: Host, packet: Buffer): void {
    this.#write(to, into => packet.copy(into))
  }

  /** Quotes the datagram of `to` that it answers, without its payload. */
  unreachable(from: Host, to: Host, { sourcePort, destinationPort }: Ports): void {
    const answered = { source: to.address, destination: from.address, sourcePort, destinationPort, payload: noBytes }
    this.#write(to, into => encodePortUnreachable(into, answered))
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
