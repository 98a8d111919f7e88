import { shortLabel, textLabel } from '../short-label.ts'
import type { Cut } from './reader.ts'

const messageBytesMax = 2 ** 28

const kinds: Readonly<Record<number, string>> = { 0: 'more', 1: 'text', 2: 'binary', 8: 'close', 9: 'ping', 10: 'pong' }
const textKind = 1
const closeKind = 8

/** A frame of WebSocket, with its content without the mask. https://www.rfc-editor.org/rfc/rfc6455#section-5.2 */
export const cutWebSocket = (held: Buffer): Cut => {
  const lengthBytes = held.length < 2 ? 0 : ({ 126: 2, 127: 8 }[held[1]! & 0x7f] ?? 0)
  const maskBytes = held.length < 2 || held[1]! < 0x80 ? 0 : 4
  const head = 2 + lengthBytes + maskBytes
  if (held.length < head) return { atLeast: head }
  const kind = kinds[held[0]! & 0x0f]
  const length = lengthOf(held, lengthBytes)
  if (kind === undefined || length > messageBytesMax) return 'malformed'
  const end = head + length
  if (held.length < end) return { atLeast: end }
  return {
    length: end,
    label: labelOf(held[0]!, unmasked(held.subarray(head, end), held.subarray(head - maskBytes, head))),
  }
}

const lengthOf = (held: Buffer, bytes: number): number => {
  if (bytes === 0) return held[1]! & 0x7f
  return bytes === 2 ? held.readUInt16BE(2) : Number(held.readBigUInt64BE(2))
}

const unmasked = (content: Buffer, mask: Buffer): Buffer =>
  mask.length === 0 ? content : Buffer.from(content.map((byte, at) => byte ^ mask[at % 4]!))

const labelOf = (first: number, content: Buffer): string => {
  const kind = first & 0x0f
  const isCompressed = (first & 0x40) !== 0
  const name = kinds[kind]!
  const rest = first < 0x80 ? ' …' : ''
  if (kind === closeKind && content.length >= 2)
    return shortLabel(`close ${content.readUInt16BE()} ${content.subarray(2)}`)
  if (content.length === 0) return `${name}${rest}`
  if (isCompressed) return `${name} of ${content.length} compressed bytes${rest}`
  // What a text says is its label. Other kinds are named, since their content may look like a text.
  return shortLabel(`${kind === textKind ? '' : `${name} `}${textLabel(content)}${rest}`)
}
