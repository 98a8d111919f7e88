import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressIn, bytesOfAddress, formatAddress, ipv6Of } from '../../linux/address.ts'
import {
  type Datagram,
  decode,
  encodeDatagram,
  encodePortUnreachable,
  encodeSegment,
  type Segment,
} from '../../proxy/packets/packet.ts'

const number = fc.integer({ min: 0, max: 0xffff_ffff })
/** Both of IPv4, or both of IPv6. */
const addresses = fc
  .tuple(fc.boolean(), number, number)
  .map(([isSix, source, destination]) =>
    isSix ? { source: ipv6Of(source), destination: ipv6Of(destination) } : { source, destination },
  )
const port = fc.integer({ min: 0, max: 0xffff })
const payload = fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes))
const datagrams: fc.Arbitrary<Datagram> = fc
  .tuple(addresses, fc.record({ sourcePort: port, destinationPort: port, payload }))
  .map(([ends, rest]) => ({ kind: 'udp', ...ends, ...rest }))
const segments: fc.Arbitrary<Segment> = fc.boolean().chain(isSyn =>
  fc
    .tuple(
      addresses,
      fc.record({
        sourcePort: port,
        destinationPort: port,
        sequence: number,
        acknowledgement: number,
        flags: fc.integer({ min: 0, max: 31 }).map(flags => (isSyn ? flags | 2 : flags & ~2)),
        window: port,
        mss: isSyn ? port : fc.constant(0),
        scale: isSyn ? fc.integer({ min: -1, max: 14 }) : fc.constant(-1),
        payload,
      }),
    )
    .map(([ends, rest]) => ({ kind: 'tcp', ...ends, ...rest })),
)

test('an address is read as it was written, of either family', () => {
  fc.assert(
    fc.property(number, address => {
      for (const each of [address, ipv6Of(address)]) expect(addressIn(bytesOfAddress(each))).toBe(each)
    }),
  )
  expect(formatAddress(ipv6Of(0x0a4d_0002))).toBe('fd77::a4d:2')
})

/** Nothing protects the header of IPv6 but for its addresses, nor the version, so a bit of what follows is flipped. */
const flip = (bytes: Buffer, length: number, position: number) => {
  const first = bytes[0]! >> 4 === 6 ? 40 : 1
  const bit = position % ((length - first) * 8)
  bytes[first + (bit >> 3)]! ^= 1 << (bit & 7)
}

test('a datagram is decoded as it was encoded, and a flipped bit never goes unnoticed', () => {
  fc.assert(
    fc.property(datagrams, fc.nat(), (datagram, position) => {
      const bytes = Buffer.alloc(1000)
      const length = encodeDatagram(bytes, datagram)
      expect(decode(bytes, length)).toEqual(datagram)
      flip(bytes, length, position)
      expect(decode(bytes, length)).not.toEqual(datagram)
    }),
  )
})

test('a segment is decoded as it was encoded, and a flipped bit makes it corrupt', () => {
  fc.assert(
    fc.property(segments, fc.nat(), (segment, position) => {
      const bytes = Buffer.alloc(1000)
      const length = encodeSegment(bytes, segment)
      expect(decode(bytes, length)).toEqual(segment)
      flip(bytes, length, position)
      expect(decode(bytes, length)).toEqual({ kind: 'corrupt' })
    }),
  )
})

test('any bytes are decoded to something, never an exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(80), (bytes, length) => {
      expect(['tcp', 'udp', 'unreachable', 'echo', 'echo-reply', 'other', 'corrupt']).toContain(
        decode(Buffer.from(bytes), Math.min(length, bytes.length)).kind,
      )
    }),
  )
})

test('the encoding is the one of the standards', () => {
  const bytes = Buffer.alloc(100)
  const datagram: Datagram = {
    kind: 'udp',
    source: 0x0a000001,
    destination: 0x0a000002,
    sourcePort: 4000,
    destinationPort: 53,
    payload: Buffer.from('hey'),
  }
  expect(bytes.toString('hex', 0, encodeDatagram(bytes, datagram))).toBe(
    '4500001f00004000401126cc0a0000010a0000020fa00035000bfa9a686579',
  )
  expect(bytes.toString('hex', 0, encodePortUnreachable(bytes, datagram))).toBe(
    '4500003800004000400126c30a0000020a0000010303f281000000004500001f00004000401126cc0a0000010a0000020fa00035000bfa9a',
  )
})
