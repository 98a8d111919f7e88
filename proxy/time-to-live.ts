import { age, hasIntactHeader } from './packets/ip-header.ts'
import { encodeIcmpError } from './packets/packet.ts'

const timeExceeded = 0x0b00 // type 11, code 0: in transit
const ICMP = 1
/** Types of ICMP messages that are errors themselves. */
const errors = [3, 4, 5, 11, 12]

/**
 * Overwrites a packet that the router of this hop must not pass on with the router's answer, as it arrives at the sender:
 * ICMP "time exceeded" (RFC 792). Returns its length; 0 if the packet may not be answered (RFC 1122, section
 * 3.2.2), or a link has corrupted its header.
 *
 * @param router its address
 *
 * @param hop 1 for the first router on the way
 */
export const answerTimeExceeded = (packet: Buffer, router: number, hop: number): number => {
  if (!hasIntactHeader(packet)) return 0
  const headerLength = (packet[0]! & 15) * 4
  const isError = packet[9] === ICMP && errors.includes(packet[headerLength]!)
  const isLaterFragment = (packet.readUInt16BE(6) & 0x1fff) !== 0
  if (isError || isLaterFragment) return 0
  const sender = packet.readUInt32BE(12)
  const quoted = Buffer.from(packet.subarray(0, Math.min(headerLength + 8, packet.readUInt16BE(2))))
  age(quoted, hop - 1)
  const length = encodeIcmpError(packet, timeExceeded, quoted, router, sender)
  age(packet, hop - 1)
  return length
}
