/**
 * IPv4 (RFC 791), UDP (RFC 768) and TCP (RFC 9293) packets as bytes and as records. Addresses are unsigned 32-bit
 * numbers. A record's payload is a view of the bytes it was decoded from: copy it to keep it.
 */

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

const ipHeader = 20
const udpHeader = 8
const tcpHeader = 20
const ICMP = 1
const TCP = 6
const UDP = 17
const nothing = Buffer.alloc(0)
const corrupt: CorruptPacket = { kind: 'corrupt' }

/** Reads the packet in the first `length` bytes. */
export const decode = (bytes: Buffer, length: number): Packet => {
  if (length < ipHeader || !hasIntactHeader(bytes)) return corrupt
  const start = (bytes[0]! & 15) * 4
  const end = bytes.readUInt16BE(2)
  if (end > length) return corrupt
  const protocol = bytes[9]!
  const source = bytes.readUInt32BE(12)
  const destination = bytes.readUInt32BE(16)
  const isFragment = (bytes.readUInt16BE(6) & 0x3fff) !== 0
  if (protocol === ICMP && !isFragment) {
    const unreachable = decodeUnreachable(bytes, start, end)
    if (unreachable) return { ...unreachable, source, destination }
    const echo = decodeEcho(bytes, start, end)
    if (echo) return { ...echo, source, destination }
  }
  if (isFragment || (protocol !== TCP && protocol !== UDP)) return { kind: 'other', source, destination, protocol }
  return protocol === TCP
    ? decodeSegment(bytes, start, end, source, destination)
    : decodeDatagram(bytes, start, end, source, destination)
}

/** Whether a packet of at least 20 bytes begins with an IPv4 header that nothing has changed on its way. */
export const hasIntactHeader = (bytes: Buffer): boolean => {
  const start = (bytes[0]! & 15) * 4
  const isWhole = bytes[0]! >> 4 === 4 && start >= ipHeader && bytes.readUInt16BE(2) >= start
  return isWhole && fold(sum(bytes, 0, start)) === 0xffff
}

/** An ICMP message begins with type and code, 3 and 3. The packet that it answers follows after eight bytes. */
const decodeUnreachable = (bytes: Buffer, start: number, end: number) => {
  const quoted = start + 8
  if (end < quoted + ipHeader + udpHeader || bytes.readUInt16BE(start) !== 0x0303) return undefined
  const ports = quoted + (bytes[quoted]! & 15) * 4
  if (bytes[quoted + 9] !== UDP || end < ports + udpHeader) return undefined
  const [sourcePort, destinationPort] = [bytes.readUInt16BE(ports), bytes.readUInt16BE(ports + 2)]
  return { kind: 'unreachable', sourcePort, destinationPort } as const
}

/** Type 8 or 0, code 0, checksum, identifier and sequence number, and then what is to be sent back. */
const decodeEcho = (bytes: Buffer, start: number, end: number) => {
  const kind = end < start + 8 ? undefined : echoes[bytes.readUInt16BE(start)]
  return kind && ({ kind, payload: bytes.subarray(start + 8, end) } as const)
}

const echoes: Readonly<Record<number, Echo['kind']>> = { 2048: 'echo', 0: 'echo-reply' }

const decodeDatagram = (bytes: Buffer, start: number, end: number, source: number, destination: number): Packet => {
  if (end - start < udpHeader) return corrupt
  const length = bytes.readUInt16BE(start + 4)
  if (length < udpHeader || start + length > end) return corrupt
  // A checksum of 0 means that the sender computed none.
  const isChecked = bytes.readUInt16BE(start + 6) !== 0
  if (isChecked && !isIntact(bytes, start, start + length, UDP, source, destination)) return corrupt
  return {
    kind: 'udp',
    source,
    destination,
    sourcePort: bytes.readUInt16BE(start),
    destinationPort: bytes.readUInt16BE(start + 2),
    payload: bytes.subarray(start + udpHeader, start + length),
  }
}

const decodeSegment = (bytes: Buffer, start: number, end: number, source: number, destination: number): Packet => {
  if (end - start < tcpHeader) return corrupt
  const payload = start + (bytes[start + 12]! >> 4) * 4
  if (payload < start + tcpHeader || payload > end) return corrupt
  if (!isIntact(bytes, start, end, TCP, source, destination)) return corrupt
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
export const encodeDatagram = (into: Buffer, datagram: Datagram, timeToLive = usualTimeToLive): number => {
  const length = udpHeader + datagram.payload.length
  encodeHeader(into, UDP, ipHeader + length, datagram.source, datagram.destination, timeToLive)
  into.writeUInt16BE(datagram.sourcePort, 20)
  into.writeUInt16BE(datagram.destinationPort, 22)
  into.writeUInt16BE(length, 24)
  into.writeUInt16BE(0, 26)
  datagram.payload.copy(into, ipHeader + udpHeader)
  const checksum = transportChecksum(into, ipHeader, ipHeader + length, UDP, datagram.source, datagram.destination)
  into.writeUInt16BE(checksum === 0 ? 0xffff : checksum, 26)
  return ipHeader + length
}

/** Writes the packet to the start of `into` and returns its length. */
export const encodeSegment = (into: Buffer, segment: Segment): number => {
  let payload = ipHeader + tcpHeader
  if (segment.mss !== 0) payload = into.writeUInt16BE(segment.mss, into.writeUInt16BE(0x0204, payload))
  if (segment.scale !== -1) payload = into.writeUInt32BE(0x01030300 | segment.scale, payload)
  const end = payload + segment.payload.length
  encodeHeader(into, TCP, end, segment.source, segment.destination)
  into.writeUInt16BE(segment.sourcePort, 20)
  into.writeUInt16BE(segment.destinationPort, 22)
  into.writeUInt32BE(segment.sequence, 24)
  into.writeUInt32BE(segment.acknowledgement, 28)
  into[32] = ((payload - ipHeader) / 4) << 4
  into[33] = segment.flags
  into.writeUInt16BE(segment.window, 34)
  into.writeUInt32BE(0, 36)
  segment.payload.copy(into, payload)
  into.writeUInt16BE(transportChecksum(into, ipHeader, end, TCP, segment.source, segment.destination), 36)
  return end
}

/**
 * Writes the ICMP message "port unreachable" (RFC 792) that answers `datagram`, and returns its length. The quoted
 * datagram is encoded again as it came.
 */
export const encodePortUnreachable = (into: Buffer, datagram: Omit<Datagram, 'kind'>): number => {
  const quoted = Buffer.alloc(ipHeader + udpHeader + datagram.payload.length)
  encodeDatagram(quoted, { ...datagram, kind: 'udp' })
  const beginning = quoted.subarray(0, ipHeader + udpHeader)
  return encodeIcmpError(into, 0x0303, beginning, datagram.destination, datagram.source)
}

/** Writes an ICMP error (RFC 792) about the packet that begins with `quoted`, and returns its length. */
export const encodeIcmpError = (
  into: Buffer,
  typeAndCode: number,
  quoted: Buffer,
  source: number,
  destination: number,
): number => {
  const end = ipHeader + 8 + quoted.length
  encodeHeader(into, ICMP, end, source, destination)
  into.writeUInt16BE(typeAndCode, 20)
  into.fill(0, 22, 28)
  quoted.copy(into, 28)
  into.writeUInt16BE(0xffff - fold(sum(into, ipHeader, end)), 22)
  return end
}

const usualTimeToLive = 64

const encodeHeader = (
  into: Buffer,
  protocol: number,
  length: number,
  source: number,
  destination: number,
  timeToLive = usualTimeToLive,
): void => {
  into.writeUInt16BE(0x4500, 0)
  into.writeUInt16BE(length, 2)
  // No identification, "don't fragment".
  into.writeUInt32BE(0x0000_4000, 4)
  into[8] = timeToLive
  into[9] = protocol
  into.writeUInt16BE(0, 10)
  into.writeUInt32BE(source, 12)
  into.writeUInt32BE(destination, 16)
  into.writeUInt16BE(0xffff - fold(sum(into, 0, ipHeader)), 10)
}

const isIntact = (
  bytes: Buffer,
  start: number,
  end: number,
  protocol: number,
  source: number,
  destination: number,
): boolean => transportChecksum(bytes, start, end, protocol, source, destination) === 0

/** The checksum over the pseudo-header and everything from `start`; 0 if a correct checksum is already in place. */
const transportChecksum = (
  bytes: Buffer,
  start: number,
  end: number,
  protocol: number,
  source: number,
  destination: number,
): number => 0xffff - fold(sum(bytes, start, end) + source + destination + protocol + (end - start))

/** Sum of the big-endian 16-bit words. It is below 2^32 for any packet, so one `fold` at the end is enough. */
const sum = (bytes: Buffer, start: number, end: number): number => {
  let total = 0
  const even = end - ((end - start) & 1)
  for (let at = start; at < even; at += 2) total += (bytes[at]! << 8) | bytes[at + 1]!
  return even === end ? total : total + (bytes[even]! << 8)
}

/** Folds a sum to 16 bits (RFC 1071). Works for numbers up to 2^53, so whole addresses may be added. */
const fold = (total: number): number => (total === 0 ? 0 : total % 0xffff || 0xffff)
