import type { Dissector, StreamReader } from '../dissector.ts'
import { lengthLabel, shortLabel, textLabel } from '../short-label.ts'
import { type Cut, FrameReader } from './reader.ts'

/**
 * MQTT 3.1.1 and 5: a packet each, with its topic and content. https://docs.oasis-open.org/mqtt/mqtt/v5.0/mqtt-v5.0.html
 */
export const mqtt = (): Dissector => ({
  name: 'MQTT',
  stream: (_, other) => new MqttReader(other instanceof MqttReader ? other : undefined),
  datagram: lengthLabel,
})

const packets = [
  undefined,
  'connect',
  'connected',
  'publish',
  'published',
  'received',
  'release',
  'complete',
  'subscribe',
  'subscribed',
  'unsubscribe',
  'unsubscribed',
  'ping',
  'pong',
  'disconnect',
  'authenticate',
] as const

class MqttReader extends FrameReader {
  readonly #client: MqttReader | undefined
  /** As the client's first packet says. */
  #version = 4

  constructor(client: MqttReader | undefined) {
    super()
    this.#client = client
  }

  protected override alike(other: StreamReader | undefined): MqttReader {
    const alike = new MqttReader(other instanceof MqttReader ? other : this.#client)
    alike.#version = this.#version
    return alike
  }

  get version(): number {
    return this.#client?.version ?? this.#version
  }

  protected override cut(held: Buffer): Cut {
    const kind = packets[held[0]! >> 4]
    const length = varint(held, 1)
    if (kind === undefined || length === 'malformed') return 'malformed'
    if (length === undefined) return { atLeast: held.length + 1 }
    const end = length.end + length.value
    if (held.length < end) return { atLeast: end }
    return { length: end, label: this.#labelOf(kind, held[0]! & 0x0f, held.subarray(length.end, end)) }
  }

  #labelOf(kind: string, flags: number, body: Buffer): string {
    try {
      return shortLabel(`${kind} ${this.#detail(kind, flags, body)}`)
    } catch (error) {
      // The packet is shorter than its own fields say.
      if (!(error instanceof RangeError)) throw error
      return `${kind} ${lengthLabel(body)}`
    }
  }

  /** @throws RangeError if the packet is too short */
  #detail(kind: string, flags: number, body: Buffer): string {
    if (kind === 'connect') return this.#connectDetail(body)
    if (kind === 'connected') return body[1] === 0 ? '' : `refused ${body[1]}`
    if (kind === 'publish') return this.#publishDetail(flags, body)
    if (kind === 'subscribe' || kind === 'unsubscribe') return textAt(body, this.#afterProperties(body, 2)).text
    return body.length >= 2 && kind !== 'disconnect' ? `#${body.readUInt16BE()}` : ''
  }

  #connectDetail(body: Buffer): string {
    const protocol = textAt(body, 0)
    this.#version = body.readUInt8(protocol.end)
    return textAt(body, this.#afterProperties(body, protocol.end + 4)).text
  }

  #publishDetail(flags: number, body: Buffer): string {
    const topic = textAt(body, 0)
    const quality = (flags >> 1) & 3
    const id = quality === 0 ? '' : ` #${body.readUInt16BE(topic.end)}`
    const again = flags & 8 ? ' again' : ''
    const start = this.#afterProperties(body, topic.end + (quality === 0 ? 0 : 2))
    return `${topic.text}${id}${again}${start < body.length ? ` ${textLabel(body.subarray(start))}` : ''}`
  }

  /** Where the properties end that version 5 has at this place. */
  #afterProperties(body: Buffer, start: number): number {
    if (this.version < 5) return start
    const length = varint(body, start)
    if (typeof length !== 'object') throw new RangeError('no length of properties')
    return length.end + length.value
  }
}

/** Seven bits a byte, the least significant first; undefined if it is not whole. */
const varint = (bytes: Buffer, start: number): { value: number; end: number } | 'malformed' | undefined => {
  let value = 0
  for (let at = 0; at < 4; at++) {
    const byte = bytes[start + at]
    if (byte === undefined) return undefined
    value += (byte & 0x7f) * 128 ** at
    if (byte < 0x80) return { value, end: start + at + 1 }
  }
  return 'malformed'
}

/** A text after its length. @throws RangeError if it is too short */
const textAt = (body: Buffer, start: number): { text: string; end: number } => {
  const end = start + 2 + body.readUInt16BE(start)
  if (end > body.length) throw new RangeError('a text that is too short')
  return { text: body.toString('utf8', start + 2, end), end }
}
