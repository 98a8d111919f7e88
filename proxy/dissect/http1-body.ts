import type { HttpHead } from './http1-head.ts'

/** Length of a body in bytes, if it is known; `upgraded`: there is no body, and another protocol follows. */
export type BodyLength = number | 'chunked' | 'until close' | 'upgraded' | 'malformed'

const bodyBytesMax = 2 ** 28

/** The length of a message's body (RFC 9112, 6.3). `method`: that of the request which a response answers. */
export const bodyLength = (head: HttpHead, method: string | undefined): BodyLength => {
  if (head.kind === 'response') {
    const { status } = head
    if (status === 101 || (method === 'CONNECT' && status >= 200 && status < 300)) return 'upgraded'
    if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return 0
  }
  const { 'transfer-encoding': coding, 'content-length': length } = head.headers
  if (coding !== undefined) {
    if (/(^|,)\s*chunked\s*$/i.test(coding)) return 'chunked'
    return head.kind === 'response' ? 'until close' : 'malformed'
  }
  if (length !== undefined) return parseLength(length)
  return head.kind === 'response' ? 'until close' : 0
}

const parseLength = (header: string): number | 'malformed' => {
  const [length, ...repeated] = header.split(',').map(part => part.trim())
  const isOne = /^\d+$/.test(length!) && repeated.every(other => other === length)
  return isOne && Number(length) <= bodyBytesMax ? Number(length) : 'malformed'
}

/** The complete chunks of a body. */
export interface Chunks {
  /** Where the last of them ends. */
  readonly end: number
  /** Whether the body, with its trailer, ends there. */
  readonly whole: boolean
  /** Otherwise, how many bytes are needed at least to get further. */
  readonly atLeast: number
}

const lineBytesMax = 16_384

/** Scans a chunked body, or its continuation from a chunk border (RFC 9112, 7.1). */
export const scanChunks = (held: Buffer, start: number): Chunks | 'malformed' => {
  for (let offset = start; ; ) {
    const line = readLine(held, offset)
    if (line === 'malformed') return 'malformed'
    if (line === undefined) return { end: offset, whole: false, atLeast: held.length + 1 }
    const [, digits] = /^([0-9a-f]{1,7})[ \t]*(?:;.*)?$/i.exec(line.text) ?? []
    if (digits === undefined) return 'malformed'
    const bytes = Number.parseInt(digits, 16)
    if (bytes === 0) return scanTrailer(held, offset, line.end)
    // The shortest line end is a single newline.
    if (held.length < line.end + bytes + 1) return { end: offset, whole: false, atLeast: line.end + bytes + 1 }
    const lineEnd = readLine(held, line.end + bytes)
    if (lineEnd === undefined) return { end: offset, whole: false, atLeast: held.length + 1 }
    if (lineEnd === 'malformed' || lineEnd.text !== '') return 'malformed'
    offset = lineEnd.end
  }
}

const scanTrailer = (held: Buffer, lastChunk: number, start: number): Chunks | 'malformed' => {
  for (let offset = start; ; ) {
    const line = readLine(held, offset)
    if (line === 'malformed') return 'malformed'
    if (line === undefined) return { end: lastChunk, whole: false, atLeast: held.length + 1 }
    if (line.text === '') return { end: line.end, whole: true, atLeast: 0 }
    offset = line.end
  }
}

const readLine = (held: Buffer, start: number): { text: string; end: number } | undefined | 'malformed' => {
  const window = held.subarray(start, start + lineBytesMax)
  const newline = window.indexOf(0x0a)
  if (newline < 0) return window.length < lineBytesMax ? undefined : 'malformed'
  return { text: window.toString('latin1', 0, newline).replace(/\r$/, ''), end: start + newline + 1 }
}
