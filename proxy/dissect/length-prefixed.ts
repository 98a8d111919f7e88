import type { Dissector } from '../dissector.ts'
import { labelOfFields } from './datagrams.ts'
import { type MessageFields, requireFields } from './fields.ts'
import { type Cut, datagramLabel, FrameReader } from './reader.ts'

/** How the length before a message is encoded. */
export interface LengthPrefix {
  /** Size of the length itself. `varint`: as in protobuf, seven bits a byte, least significant first. */
  readonly bytes: 1 | 2 | 4 | 8 | 'varint'
  /** `big` by default; not used for `varint`. */
  readonly endian?: 'big' | 'little'
  /** Whether the length includes its own bytes; false by default. */
  readonly includesHeader?: boolean
}

export interface LengthPrefixedMessages extends LengthPrefix {
  /** The fields of a message. Their numbers have the byte order of the length. */
  readonly fields?: MessageFields
  /** Receives the message by its fields, or its bytes if there are none. */
  // biome-ignore lint/suspicious/noExplicitAny: the fields say the shape
  readonly label?: (message: any) => string
}

/**
 * Messages with their length before them. A message above 256 MiB, or shorter than possible, is malformed. Throws at
 * once for an invalid field.
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

  protected override alike(): LengthPrefixedReader {
    return new LengthPrefixedReader(this.#prefix, this.#label)
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
