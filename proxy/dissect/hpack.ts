/** A header of HTTP/2, its name in lower case. */
export type Header = readonly [name: string, value: string]

/**
 * Decodes the header blocks of one direction of an HTTP/2 connection, in their order, because each may refer to headers
 * of those before (HPACK, RFC 7541).
 */
export class HeaderDecoder {
  #dynamic: readonly Header[]
  #bytesMax: number

  constructor(dynamic: readonly Header[] = [], bytesMax = defaultBytesMax) {
    this.#dynamic = dynamic
    this.#bytesMax = bytesMax
  }

  /** Another decoder that knows the same headers. */
  copy(): HeaderDecoder {
    return new HeaderDecoder(this.#dynamic, this.#bytesMax)
  }

  /** The headers of a block. @throws RangeError if it is malformed */
  decode(block: Buffer): Header[] {
    const headers: Header[] = []
    const reader = new BlockReader(block)
    while (!reader.isOver) {
      const first = reader.peek()
      if (first >= 0x80) headers.push(this.#at(reader.integer(7)))
      else if (first >= 0x40) headers.push(this.#add(this.#literal(reader, 6)))
      else if (first >= 0x20) this.#resize(reader.integer(5))
      else headers.push(this.#literal(reader, 4))
    }
    return headers
  }

  #literal(reader: BlockReader, bits: number): Header {
    const index = reader.integer(bits)
    const name = index === 0 ? reader.text() : this.#at(index)[0]
    return [name, reader.text()]
  }

  #at(index: number): Header {
    const header = index <= fixed.length ? fixed[index - 1] : this.#dynamic[index - fixed.length - 1]
    if (!header) throw new RangeError(`no header has the index ${index}`)
    return header
  }

  #add(header: Header): Header {
    this.#dynamic = [header, ...this.#dynamic]
    this.#evict()
    return header
  }

  #resize(bytesMax: number): void {
    if (bytesMax > tableBytesMax) throw new RangeError(`a header table of ${bytesMax} bytes`)
    this.#bytesMax = bytesMax
    this.#evict()
  }

  #evict(): void {
    let bytes = 0
    const kept = this.#dynamic.findIndex(header => {
      bytes += sizeOf(header)
      return bytes > this.#bytesMax
    })
    if (kept >= 0) this.#dynamic = this.#dynamic.slice(0, kept)
  }
}

const defaultBytesMax = 4096
/** No peer uses more. A larger one would let a malformed stream take memory. */
const tableBytesMax = 2 ** 20

/** As RFC 7541, section 4.1, counts it. */
const sizeOf = ([name, value]: Header): number => Buffer.byteLength(name) + Buffer.byteLength(value) + 32

/** Beyond this, an integer is malformed: no header block is so long. */
const integerMax = 2 ** 28

class BlockReader {
  readonly #bytes: Buffer
  #place = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isOver(): boolean {
    return this.#place >= this.#bytes.length
  }

  peek(): number {
    const byte = this.#bytes[this.#place]
    if (byte === undefined) throw new RangeError('the header block ends in the middle of a header')
    return byte
  }

  /** An integer whose first byte has it in the last bits (section 5.1). */
  integer(bits: number): number {
    const most = 2 ** bits - 1
    let value = this.#next() & most
    if (value < most) return value
    for (let shift = 0; ; shift += 7) {
      const byte = this.#next()
      value += (byte & 0x7f) * 2 ** shift
      if (value > integerMax) throw new RangeError('an integer of a header block is too large')
      if (byte < 0x80) return value
    }
  }

  /** A text, plain or in Huffman's code (section 5.2). */
  text(): string {
    const isCoded = this.peek() >= 0x80
    const length = this.integer(7)
    const bytes = this.#bytes.subarray(this.#place, this.#place + length)
    if (bytes.length < length) throw new RangeError('the header block ends in the middle of a text')
    this.#place += length
    return (isCoded ? decodeHuffman(bytes) : bytes).toString('latin1')
  }

  #next(): number {
    const byte = this.peek()
    this.#place += 1
    return byte
  }
}

const endOfText = 256
/** What is left at the end of a text is shorter, and all ones. */
const paddingBits = 8

const decodeHuffman = (bytes: Buffer): Buffer => {
  const text: number[] = []
  let code = 0
  let length = 0
  for (const byte of bytes)
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1)
      length += 1
      const symbol = symbols.get(length * 2 ** 30 + code)
      if (symbol === endOfText || length > 30) throw new RangeError('a text with a code that none has')
      if (symbol === undefined) continue
      text.push(symbol)
      code = 0
      length = 0
    }
  if (length >= paddingBits || code !== 2 ** length - 1)
    throw new RangeError('a text that ends in the middle of a code')
  return Buffer.from(text)
}

/** For each byte, and the end of a text, the length of its code in bits (appendix B). Codes of one length are in order. */
const lengths = `
  13 23 28 28 28 28 28 28 28 24 30 28 28 30 28 28 28 28 28 28 28 28 30 28 28 28 28 28 28 28 28 28 6 10 10 12 13 6 8 11
  10 10 8 11 8 6 6 6 5 5 5 6 6 6 6 6 6 6 7 8 15 6 12 10 13 6 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 8 7 8 13 19 13
  14 6 15 5 6 5 6 5 6 6 6 5 7 7 6 6 6 5 6 7 6 5 5 6 7 7 7 7 7 15 11 14 13 28 20 22 20 20 22 22 22 23 22 23 23 23 23 23
  24 23 24 24 22 23 24 23 23 23 23 21 22 23 22 23 23 24 22 21 20 22 22 23 23 21 23 22 22 24 21 22 23 23 21 21 22 21 23
  22 23 23 20 22 22 22 23 22 22 23 26 26 20 19 22 23 22 25 26 26 26 27 27 26 24 25 19 21 26 27 27 26 27 24 21 21 26 26
  28 27 27 27 20 24 20 21 22 21 21 23 22 22 25 25 24 24 26 23 26 27 26 26 27 27 27 27 27 28 27 27 27 27 27 26 30`
  .trim()
  .split(/\s+/)
  .map(Number)

/** Symbols by the length of their code and the code. */
const symbols: ReadonlyMap<number, number> = (() => {
  const all = new Map<number, number>()
  const inOrder = lengths.map((length, symbol) => ({ length, symbol })).sort((one, other) => one.length - other.length)
  let code = 0
  let before = inOrder[0]!.length
  for (const { length, symbol } of inOrder) {
    code *= 2 ** (length - before)
    before = length
    all.set(length * 2 ** 30 + code, symbol)
    code += 1
  }
  return all
})()

/** The headers that every decoder knows, from index 1 (appendix A). */
const fixed: readonly Header[] = `
  :authority
  :method GET
  :method POST
  :path /
  :path /index.html
  :scheme http
  :scheme https
  :status 200
  :status 204
  :status 206
  :status 304
  :status 400
  :status 404
  :status 500
  accept-charset
  accept-encoding gzip, deflate
  accept-language
  accept-ranges
  accept
  access-control-allow-origin
  age
  allow
  authorization
  cache-control
  content-disposition
  content-encoding
  content-language
  content-length
  content-location
  content-range
  content-type
  cookie
  date
  etag
  expect
  expires
  from
  host
  if-match
  if-modified-since
  if-none-match
  if-range
  if-unmodified-since
  last-modified
  link
  location
  max-forwards
  proxy-authenticate
  proxy-authorization
  range
  referer
  refresh
  retry-after
  server
  set-cookie
  strict-transport-security
  transfer-encoding
  user-agent
  vary
  via
  www-authenticate`
  .trim()
  .split('\n')
  .map(line => {
    const [name = '', ...value] = line.trim().split(' ')
    return [name, value.join(' ')] as const
  })
