import type { Dissector, StreamReader } from '../dissector.ts'
import { lengthLabel, shortLabel, textLabel } from '../short-label.ts'
import { type Cut, FrameReader } from './reader.ts'

/**
 * PostgreSQL's protocol, version 3: a message each, with its query, row or error. After TLS was agreed upon, bytes are
 * passed on as they come. https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export const postgres = (): Dissector => ({
  name: 'PostgreSQL',
  stream: (direction, other) =>
    direction === 'forward' ? new ClientReader() : new ServerReader(other instanceof ClientReader ? other : undefined),
  datagram: lengthLabel,
})

const messageBytesMax = 2 ** 28

/** First messages of a client, which have no type, by the number in place of the version. */
const requests: Readonly<Record<number, string>> = {
  80877102: 'CancelRequest',
  80877103: 'SSLRequest',
  80877104: 'GSSENCRequest',
}
const isAnsweredByOneByte = (request: string) => request !== 'CancelRequest'

const fromClient: Readonly<Record<string, string>> = {
  B: 'bind',
  C: 'close',
  d: 'copy data',
  c: 'copy done',
  f: 'copy fail',
  D: 'describe',
  E: 'execute',
  H: 'flush',
  F: 'call',
  P: 'parse',
  p: 'password',
  Q: 'query',
  S: 'sync',
  X: 'terminate',
}

const fromServer: Readonly<Record<string, string>> = {
  R: 'authentication',
  K: 'key data',
  2: 'bound',
  3: 'closed',
  C: 'complete',
  d: 'copy data',
  c: 'copy done',
  G: 'copy in',
  H: 'copy out',
  W: 'copy both',
  D: 'row',
  I: 'empty query',
  E: 'error',
  V: 'result',
  v: 'negotiate version',
  n: 'no data',
  N: 'notice',
  A: 'notification',
  t: 'parameters',
  S: 'setting',
  1: 'parsed',
  s: 'suspended',
  Z: 'ready',
  T: 'columns',
}

class ClientReader extends FrameReader {
  #hasBegun = false
  /** Requests that the server answers by one byte, without a type. */
  asked = 0

  protected override alike(): ClientReader {
    const alike = new ClientReader()
    alike.#hasBegun = this.#hasBegun
    alike.asked = this.asked
    return alike
  }

  protected override cut(held: Buffer): Cut {
    return this.#hasBegun ? cutMessage(held, fromClient, clientDetail) : this.#cutFirst(held)
  }

  #cutFirst(held: Buffer): Cut {
    if (held.length < 8) return held[0] === 0 ? { atLeast: 8 } : 'malformed'
    const length = held.readUInt32BE()
    if (length < 8 || length > 10_000) return 'malformed'
    if (held.length < length) return { atLeast: length }
    const request = requests[held.readUInt32BE(4)]
    if (request === undefined) {
      this.#hasBegun = true
      return { length, label: shortLabel(`startup ${pairs(held.subarray(8, length))}`) }
    }
    if (isAnsweredByOneByte(request)) this.asked += 1
    return { length, label: request }
  }
}

class ServerReader extends FrameReader {
  readonly #client: ClientReader | undefined
  #answered = 0

  constructor(client: ClientReader | undefined) {
    super()
    this.#client = client
  }

  protected override alike(other: StreamReader | undefined): ServerReader {
    const alike = new ServerReader(other instanceof ClientReader ? other : this.#client)
    alike.#answered = this.#answered
    return alike
  }

  protected override cut(held: Buffer): Cut {
    if (this.#answered >= (this.#client?.asked ?? 0)) return cutMessage(held, fromServer, serverDetail)
    this.#answered += 1
    return held[0] === 'N'.charCodeAt(0) ? { length: 1, label: 'no' } : { length: 1, label: 'yes', last: true }
  }
}

type Detail = (type: string, body: Buffer) => string

const cutMessage = (held: Buffer, names: Readonly<Record<string, string>>, detail: Detail): Cut => {
  const type = String.fromCharCode(held[0]!)
  const name = names[type]
  if (name === undefined) return 'malformed'
  if (held.length < 5) return { atLeast: 5 }
  const end = 1 + held.readUInt32BE(1)
  if (end < 5 || end > messageBytesMax) return 'malformed'
  if (held.length < end) return { atLeast: end }
  return { length: end, label: shortLabel(`${name} ${detailOrLength(detail, type, held.subarray(5, end))}`) }
}

const detailOrLength = (detail: Detail, type: string, body: Buffer): string => {
  try {
    return detail(type, body)
  } catch (error) {
    // The message is shorter than its own fields say.
    if (!(error instanceof RangeError)) throw error
    return lengthLabel(body)
  }
}

const clientDetail: Detail = (type, body) => {
  const texts = textsOf(body)
  if (type === 'Q' || type === 'f' || type === 'E') return texts[0] ?? ''
  if (type === 'P') return [texts[0], texts[1]].filter(Boolean).join(' ')
  if (type === 'B') return [texts[1], parametersOf(body).join(', ')].filter(Boolean).join(' ')
  if (type === 'D' || type === 'C')
    return `${body[0] === 'S'.charCodeAt(0) ? 'statement' : 'portal'} ${textsOf(body.subarray(1))[0]}`
  return type === 'd' ? textLabel(body) : ''
}

const serverDetail: Detail = (type, body) => {
  const texts = textsOf(body)
  if (type === 'C') return texts[0] ?? ''
  if (type === 'S') return `${texts[0]}=${texts[1]}`
  if (type === 'D') return valuesOf(body, 0).join(', ')
  if (type === 'Z')
    return { I: '', T: 'in a transaction', E: 'in a failed transaction' }[String.fromCharCode(body[0]!)] ?? ''
  if (type === 'E' || type === 'N') return fieldsOf(texts, ['C', 'M'])
  if (type === 'R') return authentications[body.readUInt32BE()] ?? ''
  if (type === 'A') return textsOf(body.subarray(4)).slice(0, 2).join(' ')
  return type === 'd' ? textLabel(body) : ''
}

const authentications: Readonly<Record<number, string>> = {
  0: 'ok',
  3: 'by password',
  5: 'by MD5',
  10: 'by SASL',
  11: 'goes on',
  12: 'ends',
}

/** Texts that end with a zero byte. */
const textsOf = (body: Buffer): string[] => body.toString('utf8', 0, 4_000).split('\0')

const pairs = (body: Buffer): string => {
  const texts = textsOf(body).filter(Boolean)
  return texts.flatMap((text, at) => (at % 2 === 0 ? [`${text}=${texts[at + 1] ?? ''}`] : [])).join(' ')
}

/** Fields of an error, which begin with their letter. */
const fieldsOf = (texts: readonly string[], letters: readonly string[]): string =>
  letters.flatMap(letter => texts.find(text => text[0] === letter)?.slice(1) ?? []).join(' ')

/** @throws RangeError if the message is too short */
const parametersOf = (body: Buffer): string[] => {
  const names = body.indexOf(0, body.indexOf(0) + 1) + 1
  return valuesOf(body, names + 2 + 2 * body.readUInt16BE(names))
}

/** Values after their number, each after its length. @throws RangeError if the message is too short */
const valuesOf = (body: Buffer, start: number): string[] => {
  const values: string[] = []
  let at = start + 2
  for (let left = body.readUInt16BE(start); left > 0 && values.length < 8; left--) {
    const length = body.readInt32BE(at)
    at += 4
    values.push(length < 0 ? 'null' : textLabel(body.subarray(at, at + length)))
    at += Math.max(0, length)
  }
  return values
}
