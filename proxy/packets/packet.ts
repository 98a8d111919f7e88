/**
 * UDP (RFC 768) and TCP (RFC 9293) packets of IPv4 and IPv6 as bytes and as records. A record's payload is a view of the bytes
 * it was decoded from: copy it to keep it.
 */
import { isIpv6 } from '../../linux/address.ts'
import { checksum, type IpHeader, ipHeaderLength, readIpHeader, transportChecksum, writeIpHeader } from './ip-header.ts'

export interface Segment {
  readonly kind: 'tcp'
  readonly source: number
  readonly destination: number
  readonly sourcePort: number
  readonly destinationPort: number
  readonly sequence: number
  readonly acknowledgement: number
  /** A combination of `flag`. */
  readonly flags: number
  /** As in the header, not scaled. */
  readonly window: number
  /** Maximum segment size option; 0 if absent. */
  readonly mss: number
  /** Window scale option; -1 if absent. */
  readonly scale: number
  readonly payload: Buffer
}

export interface Datagram {
  readonly kind: 'udp'
  readonly source: number
  readonly destination: number
  readonly sourcePort: number
  readonly destinationPort: number
  readonly payload: Buffer
}

/** ICMP "port unreachable", sent to the source of the datagram that it answers, with the ports of that datagram. */
export interface Unreachable {
  readonly kind: 'unreachable'
  readonly source: number
  readonly destination: number
  readonly sourcePort: number
  readonly destinationPort: number
}

/** ICMP "echo" or "echo reply": what `ping` sends, and its answer. */
export interface Echo {
  readonly kind: 'echo' | 'echo-reply'
  readonly source: number
  readonly destination: number
  readonly payload: Buffer
}

/** A well-formed packet that is neither TCP, UDP, ICMP about UDP nor an echo, or a fragment. */
export interface OtherPacket {
  readonly kind: 'other'
  readonly source: number
  readonly destination: number
  readonly protocol: number
}

/** A packet with a wrong length or checksum. */
export interface CorruptPacket {
  readonly kind: 'corrupt'
}

export type Packet = Segment | Datagram | Unreachable | Echo | OtherPacket | CorruptPacket

export const flag = { FIN: 1, SYN: 2, RST: 4, PSH: 8, ACK: 16, URG: 32 } as const

/** No packet is longer. */
export const packetLengthMax = 65_535

const udpHeader = 8
const tcpHeader = 20
const TCP = 6
const UDP = 17
/** ICMP (RFC 792) and ICMPv6 (RFC 4443): their number as a protocol, and the type and code of what we know of them. */
const icmp = { protocol: 1, unreachable: 0x0303, echo: 0x0800, echoReply: 0 } as const
const icmp6 = { protocol: 58, unreachable: 0x0104, echo: 0x8000, echoReply: 0x8100 } as const
const nothing = Buffer.alloc(0)
const corrupt: CorruptPacket = { kind: 'corrupt' }

/** Reads the packet in the first `length` bytes. */
export const decode = (bytes: Buffer, length: number): Packet => {
  const header = readIpHeader(bytes, length)
  if (header === undefined) return corrupt
  const { source, destination, protocol, isFragment } = header
  if (protocol === icmpOf(destination).protocol && !isFragment) {
    const known = decodeUnreachable(bytes, header) ?? decodeEcho(bytes, header)
    if (known) return { ...known, source, destination }
  }
  if (isFragment || (protocol !== TCP && protocol !== UDP)) return { kind: 'other', source, destination, protocol }
  return protocol === TCP ? decodeSegment(bytes, header) : decodeDatagram(bytes, header)
}

const icmpOf = (address: number) => (isIpv6(address) ? icmp6 : icmp)

/** An ICMP message begins with type and code. The packet that it answers follows after eight bytes. */
const decodeUnreachable = (bytes: Buffer, { start, end, destination }: IpHeader) => {
  const ipHeader = ipHeaderLength(destination)
  const quoted = start + 8
  if (end < quoted + ipHeader + udpHeader) return undefined
  if (bytes.readUInt16BE(start) !== icmpOf(destination).unreachable) return undefined
  const isSix = isIpv6(destination)
  const ports = quoted + (isSix ? ipHeader : (bytes[quoted]! & 15) * 4)
  if (bytes[quoted + (isSix ? 6 : 9)] !== UDP || end < ports + udpHeader) return undefined
  const [sourcePort, destinationPort] = [bytes.readUInt16BE(ports), bytes.readUInt16BE(ports + 2)]
  return { kind: 'unreachable', sourcePort, destinationPort } as const
}

/** Type and code, checksum, identifier and sequence number, and then what is to be sent back. */
const decodeEcho = (bytes: Buffer, { start, end, destination }: IpHeader) => {
  if (end < start + 8) return undefined
  const { echo, echoReply } = icmpOf(destination)
  const type = bytes.readUInt16BE(start)
  const kind = type === echo ? 'echo' : type === echoReply ? 'echo-reply' : undefined
  return kind && ({ kind, payload: bytes.subarray(start + 8, end) } as const)
}

const decodeDatagram = (bytes: Buffer, header: IpHeader): Packet => {
  const { start, end, source, destination } = header
  if (end - start < udpHeader) return corrupt
  const length = bytes.readUInt16BE(start + 4)
  if (length < udpHeader || start + length > end) return corrupt
  // A checksum of 0 means that the sender computed none.
  const isChecked = bytes.readUInt16BE(start + 6) !== 0
  if (isChecked && !isIntact(bytes, { ...header, end: start + length })) return corrupt
  return {
    kind: 'udp',
    source,
    destination,
    sourcePort: bytes.readUInt16BE(start),
    destinationPort: bytes.readUInt16BE(start + 2),
    payload: bytes.subarray(start + udpHeader, start + length),
  }
}

const decodeSegment = (bytes: Buffer, header: IpHeader): Packet => {
  const { start, end, source, destination } = header
  if (end - start < tcpHeader) return corrupt
  const payload = start + (bytes[start + 12]! >> 4) * 4
  if (payload < start + tcpHeader || payload > end) return corrupt
  if (!isIntact(bytes, header)) return corrupt
  const flags = bytes[start + 13]!
  const options = (flags & flag.SYN) === 0 ? noOptions : decodeOptions(bytes, start + tcpHeader, payload)
  return {
    kind: 'tcp',
    source,
    destination,
    sourcePort: bytes.readUInt16BE(start),
    destinationPort: bytes.readUInt16BE(start + 2),
    sequence: bytes.readUInt32BE(start + 4),
    acknowledgement: bytes.readUInt32BE(start + 8),
    flags,
    window: bytes.readUInt16BE(start + 14),
    mss: options.mss,
    scale: options.scale,
    payload: payload === end ? nothing : bytes.subarray(payload, end),
  }
}

const noOptions = { mss: 0, scale: -1 }

const decodeOptions = (bytes: Buffer, start: number, end: number): { mss: number; scale: number } => {
  const options = { ...noOptions }
  for (let at = start; at < end && bytes[at] !== 0; ) {
    if (bytes[at] === 1) {
      at += 1
      continue
    }
    const length = bytes[at + 1]!
    if (at + 1 >= end || length < 2 || at + length > end) break
    if (bytes[at] === 2 && length === 4) options.mss = bytes.readUInt16BE(at + 2)
    if (bytes[at] === 3 && length === 3) options.scale = Math.min(bytes[at + 2]!, 14)
    at += length
  }
  return options
}

/** Writes the packet to the start of `into` and returns its length. */
export const encodeDatagram = (into: Buffer, datagram: Datagram, timeToLive?: number): number => {
  const start = ipHeaderLength(datagram.destination)
  const end = start + udpHeader + datagram.payload.length
  const carried = writeIpHeader(into, UDP, end, datagram, timeToLive)
  into.writeUInt16BE(datagram.sourcePort, start)
  into.writeUInt16BE(datagram.destinationPort, start + 2)
  into.writeUInt16BE(end - start, start + 4)
  into.writeUInt16BE(0, start + 6)
  datagram.payload.copy(into, start + udpHeader)
  const checked = transportChecksum(into, carried)
  into.writeUInt16BE(checked === 0 ? 0xffff : checked, start + 6)
  return end
}

/** Writes the packet to the start of `into` and returns its length. */
export const encodeSegment = (into: Buffer, segment: Segment): number => {
  const start = ipHeaderLength(segment.destination)
  let payload = start + tcpHeader
  if (segment.mss !== 0) payload = into.writeUInt16BE(segment.mss, into.writeUInt16BE(0x0204, payload))
  if (segment.scale !== -1) payload = into.writeUInt32BE(0x01030300 | segment.scale, payload)
  const end = payload + segment.payload.length
  const carried = writeIpHeader(into, TCP, end, segment)
  into.writeUInt16BE(segment.sourcePort, start)
  into.writeUInt16BE(segment.destinationPort, start + 2)
  into.writeUInt32BE(segment.sequence, start + 4)
  into.writeUInt32BE(segment.acknowledgement, start + 8)
  into[start + 12] = ((payload - start) / 4) << 4
  into[start + 13] = segment.flags
  into.writeUInt16BE(segment.window, start + 14)
  into.writeUInt32BE(0, start + 16)
  segment.payload.copy(into, payload)
  into.writeUInt16BE(transportChecksum(into, carried), start + 16)
  return end
}

/**
 * Writes the ICMP message "port unreachable" that answers `datagram`, and returns its length. The datagram is quoted by
 * encoding it again, with the same bytes.
 */
export const encodePortUnreachable = (into: Buffer, datagram: Omit<Datagram, 'kind'>): number => {
  const length = ipHeaderLength(datagram.destination) + udpHeader
  const quoted = Buffer.alloc(length + datagram.payload.length)
  encodeDatagram(quoted, { ...datagram, kind: 'udp' })
  const { unreachable } = icmpOf(datagram.destination)
  return encodeIcmpError(into, unreachable, quoted.subarray(0, length), datagram.destination, datagram.source)
}

/** Writes an ICMP error about the packet that begins with `quoted`, and returns its length. */
export const encodeIcmpError = (
  into: Buffer,
  typeAndCode: number,
  quoted: Buffer,
  source: number,
  destination: number,
): number => {
  const start = ipHeaderLength(destination)
  const end = start + 8 + quoted.length
  const carried = writeIpHeader(into, icmpOf(destination).protocol, end, { source, destination })
  into.writeUInt16BE(typeAndCode, start)
  into.fill(0, start + 2, start + 8)
  quoted.copy(into, start + 8)
  // That of ICMPv6 has the addresses in it (RFC 4443, 2.3).
  const checked = isIpv6(destination) ? transportChecksum(into, carried) : checksum(into, start, end)
  into.writeUInt16BE(checked, start + 2)
  return end
}

const isIntact = (bytes: Buffer, header: IpHeader): boolean => transportChecksum(bytes, header) === 0
