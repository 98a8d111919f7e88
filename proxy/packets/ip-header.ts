import { addressIn, bytesOfAddress, isIpv6 } from '../../linux/address.ts'

/** What the header of an IPv4 (RFC 791) or IPv6 packet (RFC 8200) says. */
export interface IpHeader extends IpPayload {
  readonly source: number
  readonly destination: number
  readonly isFragment: boolean
}

/** The part of a packet that the checksum of its protocol covers. */
export interface IpPayload {
  readonly protocol: number
  /** Where it begins, and where it ends. */
  readonly start: number
  readonly end: number
  /** The sum of both addresses. */
  readonly addresses: number
}

const lengths = { 4: 20, 6: 40 } as const
const usualTimeToLive = 64

/** Reads the header of the packet in the first `length` bytes; undefined if it is corrupt. */
export const readIpHeader = (bytes: Buffer, length: number): IpHeader | undefined =>
  isOfIpv6(bytes) ? readIpv6(bytes, length) : readIpv4(bytes, length)

const readIpv4 = (bytes: Buffer, length: number): IpHeader | undefined => {
  if (length < lengths[4] || !hasIntactHeader(bytes)) return undefined
  const start = (bytes[0]! & 15) * 4
  const end = bytes.readUInt16BE(2)
  if (end > length) return undefined
  const [source, destination] = [bytes.readUInt32BE(12), bytes.readUInt32BE(16)]
  return {
    source,
    destination,
    addresses: source + destination,
    protocol: bytes[9]!,
    isFragment: (bytes.readUInt16BE(6) & 0x3fff) !== 0,
    start,
    end,
  }
}

/** An extension header, for example of a fragment, counts as another protocol. */
const readIpv6 = (bytes: Buffer, length: number): IpHeader | undefined => {
  if (length < lengths[6]) return undefined
  const end = lengths[6] + bytes.readUInt16BE(4)
  if (end > length) return undefined
  return {
    source: addressIn(bytes.subarray(8, 24)),
    destination: addressIn(bytes.subarray(24, 40)),
    addresses: sum(bytes, 8, 40),
    protocol: bytes[6]!,
    isFragment: false,
    start: lengths[6],
    end,
  }
}

/** Whether a packet of at least 20 bytes begins with an IPv4 header that nothing has changed on its way. */
export const hasIntactHeader = (bytes: Buffer): boolean => {
  const start = (bytes[0]! & 15) * 4
  const isWhole = bytes[0]! >> 4 === 4 && start >= lengths[4] && bytes.readUInt16BE(2) >= start
  return isWhole && fold(sum(bytes, 0, start)) === 0xffff
}

/** The length of a header that we write for a packet to this address. */
export const ipHeaderLength = (destination: number): number => (isIpv6(destination) ? lengths[6] : lengths[4])

/**
 * Writes the header of a packet, and returns what it says of what is to follow. Both addresses are of one family.
 *
 * @param end of the whole packet
 */
export const writeIpHeader = (
  into: Buffer,
  protocol: number,
  end: number,
  { source, destination }: Pick<IpHeader, 'source' | 'destination'>,
  timeToLive = usualTimeToLive,
): IpPayload => {
  const start = ipHeaderLength(destination)
  if (isIpv6(destination)) {
    into.writeUInt32BE(0x6000_0000, 0)
    into.writeUInt16BE(end - lengths[6], 4)
    into[6] = protocol
    into[7] = timeToLive
    bytesOfAddress(source).copy(into, 8)
    bytesOfAddress(destination).copy(into, 24)
    return { protocol, start, end, addresses: sum(into, 8, 40) }
  }
  into.writeUInt16BE(0x4500, 0)
  into.writeUInt16BE(end, 2)
  // No identification, "don't fragment".
  into.writeUInt32BE(0x0000_4000, 4)
  into[8] = timeToLive
  into[9] = protocol
  into.writeUInt16BE(0, 10)
  into.writeUInt32BE(source, 12)
  into.writeUInt32BE(destination, 16)
  into.writeUInt16BE(0xffff - fold(sum(into, 0, lengths[4])), 10)
  return { protocol, start, end, addresses: source + destination }
}

/** What the router's hop of a packet lowers. */
export const timeToLiveOf = (bytes: Buffer): number => bytes[isOfIpv6(bytes) ? 7 : 8]!

/**
 * Lowers the time to live of a packet by one for each router, and corrects the checksum that an IPv4 header has (RFC 1624).
 *
 * @param at where the packet begins
 */
export const age = (bytes: Buffer, routers: number, at = 0): void => {
  if (isOfIpv6(bytes, at)) {
    bytes[at + 7]! -= routers
    return
  }
  bytes[at + 8]! -= routers
  const checksum = bytes.readUInt16BE(at + 10) + routers * 0x100
  bytes.writeUInt16BE(checksum < 0xffff ? checksum : (checksum + 1) & 0xffff, at + 10)
}

const isOfIpv6 = (bytes: Buffer, at = 0): boolean => bytes[at]! >> 4 === 6

/** The checksum over the pseudo-header and everything the packet carries; 0 if a correct checksum is already in place. */
export const transportChecksum = (bytes: Buffer, { start, end, protocol, addresses }: IpPayload): number =>
  0xffff - fold(sum(bytes, start, end) + addresses + protocol + (end - start))

/** The checksum of these bytes (RFC 1071). */
export const checksum = (bytes: Buffer, start: number, end: number): number => 0xffff - fold(sum(bytes, start, end))

/** Sum of the big-endian 16-bit words. It is below 2^32 for any packet, so one `fold` at the end is enough. */
const sum = (bytes: Buffer, start: number, end: number): number => {
  let total = 0
  const even = end - ((end - start) & 1)
  for (let at = start; at < even; at += 2) total += (bytes[at]! << 8) | bytes[at + 1]!
  return even === end ? total : total + (bytes[even]! << 8)
}

/** Folds a sum to 16 bits (RFC 1071). Works for numbers up to 2^53, so whole addresses may be added. */
const fold = (total: number): number => (total === 0 ? 0 : total % 0xffff || 0xffff)
