import { shortLabel, textLabel } from '../short-label.ts'

const messageBytesMax = 2 ** 28

const kinds = { 0: 'more', 1: 'text', 2: 'binary', 8: 'close', 9: 'ping', 10: 'pong' } as const
type Kind = (typeof kinds)[keyof typeof kinds]
const numberOf = Object.fromEntries(Object.entries(kinds).map(([number, kind]) => [kind, Number(number)]))

interface WebSocketFrame {
  /** With its head, in bytes. */
  readonly length: number
  readonly label: string
  readonly kind: Kind
  /** Without the mask. */
  readonly content: Buffer
}

/** A frame of WebSocket. https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
export const cutWebSocket = (held: Buffer): WebSocketFrame | { readonly atLeast: number } | 'malformed' => {
  const lengthBytes = held.length < 2 ? 0 : ({ 126: 2, 127: 8 }[held[1]! & 0x7f] ?? 0)
  const maskBytes = held.length < 2 || held[1]! < 0x80 ? 0 : 4
  const head = 2 + lengthBytes + maskBytes
  if (held.length < head) return { atLeast: head }
  const kind = kinds[(held[0]! & 0x0f) as keyof typeof kinds]
  const end = head + contentLength(held, lengthBytes)
  if (kind === undefined || end > messageBytesMax) return 'malformed'
  if (held.length < end) return { atLeast: end }
  const content = unmasked(held.subarray(head, end), held.subarray(head - maskBytes, head))
  return { length: end, label: labelOf(held[0]!, kind, content), kind, content }
}

/** A whole message as a client sends it, with a mask of zeros. */
export const webSocketFrame = (message: string | Uint8Array, kind?: Kind): Buffer => {
  const content = Buffer.from(message as Uint8Array)
  const number = numberOf[kind ?? (typeof message === 'string' ? 'text' : 'binary')]!
  const length = content.length < 126 ? Buffer.alloc(0) : Buffer.alloc(content.length < 65_536 ? 2 : 8)
  if (length.length === 2) length.writeUInt16BE(content.length)
  if (length.length === 8) length.writeBigUInt64BE(BigInt(content.length))
  const second = { 0: content.length, 2: 126, 8: 127 }[length.length]!
  return Buffer.concat([Buffer.from([0x80 | number, 0x80 | second]), length, Buffer.alloc(4), content])
}

const contentLength = (held: Buffer, bytes: number): number => {
  if (bytes === 0) return held[1]! & 0x7f
  return bytes === 2 ? held.readUInt16BE(2) : Number(held.readBigUInt64BE(2))
}

const unmasked = (content: Buffer, mask: Buffer): Buffer =>
  mask.length === 0 ? content : Buffer.from(content.map((byte, at) => byte ^ mask[at % 4]!))

const labelOf = (first: number, kind: Kind, content: Buffer): string => {
  const isCompressed = (first & 0x40) !== 0
  const rest = first < 0x80 ? ' …' : ''
  if (kind === 'close' && content.length >= 2)
    return shortLabel(`close ${content.readUInt16BE()} ${content.subarray(2)}`)
  if (content.length === 0) return `${kind}${rest}`
  if (isCompressed) return `${kind} of ${content.length} compressed bytes${rest}`
  // What a text says is its label. Other kinds are named, since their content may look like a text.
  return shortLabel(`${kind === 'text' ? '' : `${kind} `}${textLabel(content)}${rest}`)
}
