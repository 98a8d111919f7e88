import type { Dissector } from '../dissector.ts'
import { labelBy, shortLabel } from '../short-label.ts'
import { type Cut, datagramLabel, FrameReader } from './reader.ts'
import { parseResp, type RespValue } from './resp-value.ts'

/**
 * RESP2 and RESP3 as Redis speaks them: commands (also inline ones) forward, replies backward, pipelined or not. On a
 * replica's connection the primary answers PSYNC with a snapshot and then sends commands backward. `label` receives the
 * value of a command or reply. https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
export const resp = (label?: (message: RespValue) => string): Dissector => ({
  name: 'RESP',
  stream: direction => (direction === 'forward' ? new CommandReader(label) : new ReplyReader(label)),
  datagram: payload => datagramLabel(new CommandReader(label), payload),
})

type UserLabel = ((message: RespValue) => string) | undefined

const inlineBytesMax = 65_536
const asterisk = 0x2a
const newline = 0x0a
const carriageReturn = 0x0d

class CommandReader extends FrameReader {
  readonly #label: UserLabel

  constructor(label: UserLabel) {
    super()
    this.#label = label
  }

  protected override alike(): CommandReader {
    return new CommandReader(this.#label)
  }

  protected override cut(held: Buffer): Cut {
    return held[0] === asterisk ? cutValue(held, this.#label, commandLabel) : this.#cutInline(held)
  }

  #cutInline(held: Buffer): Cut {
    const end = held.indexOf(newline)
    const line = held.subarray(0, end < 0 ? held.length : end + 1)
    if (line.length > inlineBytesMax || line.includes(0)) return 'malformed'
    if (end < 0) return { atLeast: held.length + 1 }
    const words = line.toString().split(/\s+/).filter(Boolean)
    return { length: line.length, label: labelBy(this.#label, words, () => commandLabel(words)) }
  }
}

class ReplyReader extends FrameReader {
  readonly #label: UserLabel
  #expects: 'replies' | 'snapshot' | 'commands' = 'replies'

  constructor(label: UserLabel) {
    super()
    this.#label = label
  }

  protected override alike(): ReplyReader {
    const alike = new ReplyReader(this.#label)
    alike.#expects = this.#expects
    return alike
  }

  protected override cut(held: Buffer): Cut {
    if (this.#expects === 'replies') return this.#cutReply(held)
    const keepAlive = cutKeepAlive(held)
    if (keepAlive) return keepAlive
    return this.#expects === 'snapshot' ? this.#cutSnapshot(held) : cutValue(held, this.#label, commandLabel)
  }

  #cutReply(held: Buffer): Cut {
    const cut = cutValue(held, this.#label, replyLabel)
    if (typeof cut === 'object' && 'length' in cut) {
      if (startsWith(held, '+FULLRESYNC')) this.#expects = 'snapshot'
      else if (startsWith(held, '+CONTINUE')) this.#expects = 'commands'
    }
    return cut
  }

  #cutSnapshot(held: Buffer): Cut {
    const cut = cutSnapshot(held)
    if (typeof cut === 'object' && 'length' in cut) this.#expects = 'commands'
    return cut
  }
}

const cutValue = (held: Buffer, label: UserLabel, byDefault: (value: RespValue) => string): Cut => {
  const parsed = parseResp(held)
  if (parsed === 'malformed' || 'atLeast' in parsed) return parsed
  return { length: parsed.end, label: labelBy(label, parsed.value, () => byDefault(parsed.value)) }
}

/** A busy primary sends empty lines to keep the connection of its replica alive. */
const cutKeepAlive = (held: Buffer): Cut | undefined => {
  if (held[0] === newline) return { length: 1, label: 'keep-alive' }
  if (held[0] !== carriageReturn) return undefined
  if (held.length < 2) return { atLeast: 2 }
  return held[1] === newline ? { length: 2, label: 'keep-alive' } : 'malformed'
}

const snapshotHeaderBytesMax = 64
const endMarkBytes = 40

/** Like a bulk string without a line end; or, if the primary does not know its length yet, up to a mark. */
const cutSnapshot = (held: Buffer): Cut => {
  const lineEnd = held.subarray(0, snapshotHeaderBytesMax).indexOf('\r\n')
  if (held[0] !== 0x24 || (lineEnd < 0 && held.length >= snapshotHeaderBytesMax)) return 'malformed'
  if (lineEnd < 0) return { atLeast: held.length + 1 }
  const header = held.toString('latin1', 1, lineEnd)
  const start = lineEnd + 2
  if (header.startsWith('EOF:') && header.length === 4 + endMarkBytes) {
    const mark = held.indexOf(header.slice(4), start, 'latin1')
    return mark < 0 ? { atLeast: held.length + 1 } : { length: mark + endMarkBytes, label: snapshotLabel }
  }
  if (!/^\d{1,15}$/.test(header)) return 'malformed'
  const end = start + Number(header)
  return held.length < end ? { atLeast: end } : { length: end, label: snapshotLabel }
}

// Without its length, which depends on memory figures inside of it.
const snapshotLabel = 'RDB snapshot'

const startsWith = (held: Buffer, text: string) => held.toString('latin1', 0, text.length) === text

// Array.isArray does not narrow to a readonly array.
const isList = (value: RespValue): value is readonly RespValue[] => Array.isArray(value)

const commandLabel = (value: RespValue): string =>
  isList(value) && value.length > 0 ? shortLabel(value.slice(0, 8).map(word).join(' ')) : replyLabel(value)

const replyLabel = (value: RespValue): string => {
  if (Array.isArray(value))
    return shortLabel(`[${value.slice(0, 8).map(word).join(', ')}${value.length > 8 ? ', …' : ''}]`)
  return shortLabel(typeof value === 'string' && value !== '' ? withoutIds(value) : word(value))
}

/** Ids of servers and replications are random, and not always from a held source. */
const withoutIds = (text: string) => text.replace(/\b[0-9a-f]{40}\b/g, '<id>')

const wordLengthMax = 24

const word = (value: RespValue): string => {
  if (value === null) return 'nil'
  if (isList(value)) return `[${value.length}]`
  if (typeof value === 'object') return value.error
  const text = withoutIds(String(value))
  if (text === '') return '""'
  return text.length <= wordLengthMax ? text : `${text.slice(0, wordLengthMax - 1)}…`
}
