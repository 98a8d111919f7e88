import type { Dissector } from '../dissector.ts'
import { labelOfFields } from './datagrams.ts'
import { type MessageFields, requireFields } from './fields.ts'
import { type Cut, datagramLabel, FrameReader } from './reader.ts'

/** How the length of a message stands before it. */
export interface LengthPrefix {
  /** Size of the length itself; `varint`: as protobuf writes lengths, seven bits a byte, least first. */
  readonly bytes: 1 | 2 | 4 | 8 | 'varint'
  /** `big` by default; a `varint` has none. */
  readonly endian?: 'big' | 'little'
  /** Whether the length counts its own bytes too; not by default. */
  readonly includesHeader?: boolean
}

export interface LengthPrefixedMessages extends LengthPrefix {
  /** What a message is made of; its numbers stand as the length does. */
  readonly fields?: MessageFields
  /** Gets the message by its fields, or its bytes where none are given. */
  // biome-ignore lint/suspicious/noExplicitAny: the fields say the shape
  readonly label?: (message: any) => string
}

/**
 * Messages that are preceded by their length. One of more than 256 MiB, or shorter than it can be, is malformed. Throws at
 * once where `fields` has one that is none.
 */
export const lengthPrefixed = ({ fields, label, ...prefix }: LengthPrefixedMessages): Dissector => {
  if (fields) requireFields(fields)
  const { endian = 'big' } = prefix
  return lengthPrefixedDissector('length-prefixed', prefix, payload =>
    labelOfFields(payload, { fields, endian, label }),
  )
}

const lengthPrefixedDissector = (
  name: string,
  prefix: LengthPrefix,
  label: (payload: Buffer) => string,
): Dissector => ({
  name,
  stream: () => new LengthPrefixedReader(prefix, label),
  datagram: payload => datagramLabel(new LengthPrefixedReader(prefix, label), payload),
})

const messageBytesMax = 2 ** 28

export class LengthPrefixedReader extends FrameReader {
  readonly #prefix: LengthPrefix
  readonly #label: (payload: Buffer) => string

  constructor(prefix: LengthPrefix, label: (payload: Buffer) => string) {
    super()
    this.#prefix = prefix
    this.#label = label
  }

  protected override cut(held: Buffer): Cut {
    const header = readHeader(held, this.#prefix)
    if (header === 'malformed' || 'atLeast' in header) return header
    const end = header.length + (this.#prefix.includesHeader ? 0 : header.bytes)
    if (end < header.bytes || end > messageBytesMax) return 'malformed'
    if (held.length < end) return { atLeast: end }
    return { length: end, label: this.#label(held.subarray(header.bytes, end)) }
  }
}

type Header = { readonly bytes: number; readonly length: number } | { readonly atLeast: number } | 'malformed'

const readHeader = (held: Buffer, { bytes, endian = 'big' }: LengthPrefix): Header => {
  if (bytes === 'varint') return readVarint(held)
  if (held.length < bytes) return { atLeast: bytes }
  return { bytes, length: readLength(held, bytes, endian) }
}

const readLength = (held: Buffer, bytes: 1 | 2 | 4 | 8, endian: 'big' | 'little'): number => {
  if (bytes === 8) return Number(endian === 'big' ? held.readBigUInt64BE() : held.readBigUInt64LE())
  return endian === 'big' ? held.readUIntBE(0, bytes) : held.readUIntLE(0, bytes)
}

const readVarint = (held: Buffer): Header => {
  let length = 0
  for (let bytes = 1; bytes <= 5; bytes++) {
    const byte = held[bytes - 1]
    if (byte === undefined) return { atLeast: bytes }
    length += (byte & 0x7f) * 2 ** (7 * (bytes - 1))
    if (byte < 0x80) return { bytes, length }
  }
  return 'malformed'
}
