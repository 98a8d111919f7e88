/** A number of fixed size, a boolean (one byte), a text or bytes after their length, or all remaining bytes. */
export type PlainField =
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  | 'i8'
  | 'i16'
  | 'i32'
  | 'i64'
  | 'bool'
  | 'text8'
  | 'text16'
  | 'text32'
  | 'bytes8'
  | 'bytes16'
  | 'bytes32'
  | 'text'
  | 'bytes'

/** The meaning of a number: a name, or a name and the fields that follow only in that case. */
export type Meanings = Readonly<Record<number, string | readonly [name: string, fields: MessageFields]>>

/** A plain field, or one whose numbers have names: `{ u8: { 1: 'ping', 2: ['vote', { term: 'u32' }] } }`. */
export type Field = PlainField | { readonly u8: Meanings } | { readonly u16: Meanings } | { readonly u32: Meanings }

/** The fields of a message, in order. */
export interface MessageFields {
  readonly [name: string]: Field
}

const sizes = { u8: 1, u16: 2, u32: 4, u64: 8, i8: 1, i16: 2, i32: 4, i64: 8 } as const
const lengths = { text8: 1, text16: 2, text32: 4, bytes8: 1, bytes16: 2, bytes32: 4 } as const
const plain = [...Object.keys(sizes), ...Object.keys(lengths), 'bool', 'text', 'bytes']

/** @throws Error that names an invalid field and what is allowed */
export const requireFields = (fields: unknown, where = 'fields'): void => {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new Error(`${where}: expected the fields of a message, such as { type: 'u8', term: 'u32' }`)
  for (const [name, field] of Object.entries(fields)) requireField(field, `${where}.${name}`)
}

const requireField = (field: unknown, where: string): void => {
  if (typeof field === 'string' && plain.includes(field)) return
  const [[size, meanings] = [], ...others] = typeof field === 'object' && field !== null ? Object.entries(field) : []
  if (
    others.length > 0 ||
    !['u8', 'u16', 'u32'].includes(size ?? '') ||
    typeof meanings !== 'object' ||
    meanings === null
  )
    throw new Error(
      `${where}: expected one of ${plain.join(', ')}, or { u8: { 1: 'ping', 2: ['vote', { term: 'u32' }] } }, found ${JSON.stringify(field)}`,
    )
  for (const [number, meaning] of Object.entries(meanings)) {
    const [name, following] = Array.isArray(meaning) ? meaning : [meaning, {}]
    if (!/^\d+$/.test(number) || typeof name !== 'string')
      throw new Error(`${where}.${size}.${number}: expected a name for a number, found ${JSON.stringify(meaning)}`)
    requireFields(following, `${where}.${size}.${number}`)
  }
}

/** A message of these fields; undefined if the bytes are too few or too many. */
export const readFields = (
  bytes: Buffer,
  fields: MessageFields,
  endian: 'big' | 'little',
): Readonly<Record<string, unknown>> | undefined => {
  try {
    const reader = new FieldReader(bytes, endian)
    const message = Object.fromEntries(reader.read(fields))
    return reader.isAtEnd ? message : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

class FieldReader {
  readonly #bytes: Buffer
  readonly #endian: 'big' | 'little'
  #at = 0

  constructor(bytes: Buffer, endian: 'big' | 'little') {
    this.#bytes = bytes
    this.#endian = endian
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  /** @throws RangeError if the bytes end before the message */
  read(fields: MessageFields): [string, unknown][] {
    return Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
      if (typeof field === 'string') return [[name, this.#plain(field)]]
      const [[size, meanings]] = Object.entries(field) as [[keyof typeof sizes, Meanings]]
      const number = this.#number(size)
      const meaning = meanings[number]
      if (meaning === undefined) return [[name, number]]
      const [named, following] = typeof meaning === 'string' ? [meaning, {}] : meaning
      return [[name, named], ...this.read(following)]
    })
  }

  #plain(field: PlainField): unknown {
    if (field === 'bool') return this.#number('u8') !== 0
    if (field in sizes) return this.#number(field as keyof typeof sizes)
    const length =
      field in lengths ? this.#unsigned(lengths[field as keyof typeof lengths]) : this.#bytes.length - this.#at
    const bytes = this.#take(length)
    return field.startsWith('text') ? bytes.toString() : [...bytes]
  }

  #number(field: keyof typeof sizes): number {
    const size = sizes[field]
    const unsigned = this.#unsigned(size)
    const isNegative = field.startsWith('i') && unsigned >= 2 ** (8 * size - 1)
    return isNegative ? unsigned - 2 ** (8 * size) : unsigned
  }

  /** Exact up to 2^53. */
  #unsigned(size: 1 | 2 | 4 | 8): number {
    const bytes = this.#take(size)
    if (size === 8) return Number(this.#endian === 'big' ? bytes.readBigUInt64BE() : bytes.readBigUInt64LE())
    return this.#endian === 'big' ? bytes.readUIntBE(0, size) : bytes.readUIntLE(0, size)
  }

  #take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) throw new RangeError('the bytes end before the message')
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return taken
  }
}
