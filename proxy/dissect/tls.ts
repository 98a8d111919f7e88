import type { Dissector, Frame, StreamReader } from '../dissector.ts'
import { joinedLabel, lengthLabel, shortLabel } from '../short-label.ts'
import { KeyLog } from './key-log.ts'
import { type Opened, type Opener, Opener12, Opener13, type Suite, suites } from './tls-records.ts'

export interface TlsKeys {
  /**
   * The file to which a node logs the secrets of its sessions, as `SSLKEYLOGFILE` names it: a path on this machine, which the
   * node must really write (`write`).
   */
  readonly keys: string
  /**
   * Who logs them: the side that opens connections (`client`, also where both do), or only the other one. A server knows some
   * secrets later, so the first that a client sends has no label then.
   */
  readonly loggedBy: 'client' | 'server'
}

/**
 * TLS 1.2 and 1.3: what a connection carries inside is cut and labelled by the dissector `inside`, with the secrets that one of
 * its two nodes logs. What cannot be read is labelled by its length, and nothing is ever changed.
 * https://www.rfc-editor.org/rfc/rfc8446
 */
export const tls = (inside: Dissector, { keys, loggedBy }: TlsKeys): Dissector => {
  const log = new KeyLog(keys)
  return {
    name: `TLS with ${inside.name}`,
    stream: (direction, other) =>
      new TlsReader(direction, inside, other instanceof TlsReader ? other : new Session(log, loggedBy)),
    datagram: payload => lengthLabel(payload),
  }
}

/** What both directions know of a connection. */
class Session {
  readonly log: KeyLog
  readonly loggedBy: TlsKeys['loggedBy']
  clientRandom: Buffer | undefined
  serverRandom: Buffer | undefined
  suite: Suite | undefined
  is13 = false
  /** Whether the client has sealed something, and the server something after that. */
  hasSealed = false
  hasAnswered = false

  constructor(log: KeyLog, loggedBy: TlsKeys['loggedBy']) {
    this.log = log
    this.loggedBy = loggedBy
  }

  /**
   * Whether all secrets with which this direction seals are logged by now. One that is logged only later in this execution may be
   * known of an earlier one, with the same random numbers, and labels must not depend on that.
   */
  isLogged(direction: 'forward' | 'backward'): boolean {
    if (direction === 'backward') return this.hasSealed
    return this.loggedBy === 'client' || this.hasAnswered
  }

  sealed(direction: 'forward' | 'backward'): void {
    if (direction === 'forward') this.hasSealed = true
    else this.hasAnswered ||= this.hasSealed
  }
}

const types = { 20: 'change cipher', 21: 'alert', 22: 'handshake', 23: 'data' } as const
const [changeCipher, alert, handshake, data] = [20, 21, 22, 23]
/** The message of a handshake that is sealed first. */
const finished = 20
const [headBytes, recordBytesMax] = [5, 2 ** 14 + 2048]
const messages: Readonly<Record<number, string>> = {
  ...{
    1: 'client hello',
    2: 'server hello',
    4: 'session ticket',
    8: 'extensions',
    11: 'certificate',
    12: 'server key',
  },
  ...{ 13: 'certificate request', 14: 'server done', 15: 'verify', 16: 'client key', 20: 'finished' },
}

class TlsReader implements StreamReader {
  readonly #session: Session
  readonly #direction: 'forward' | 'backward'
  readonly #inside: StreamReader
  /** Sealed records of TLS 1.2 begin after this. */
  #hasChanged = false
  /** Sealed records that could not be opened. */
  #sealed = 0
  #opener: Opener | undefined
  /** Not TLS, or no more of it can be read. */
  #isRaw = false
  /** Bytes that are no whole record yet. */
  #held: Buffer = Buffer.alloc(0)
  /** Records whose content is no whole frame yet. */
  #records: Buffer[] = []

  /** @param peer the reader of the forward direction, or for that itself a new session */
  constructor(direction: 'forward' | 'backward', inside: Dissector, peer: TlsReader | Session) {
    this.#direction = direction
    this.#session = peer instanceof TlsReader ? peer.#session : peer
    this.#inside = inside.stream(direction, peer instanceof TlsReader ? peer.#inside : undefined)
  }

  push(chunk: Buffer): Frame[] {
    this.#held = Buffer.concat([this.#held, chunk])
    const frames: Frame[] = []
    for (;;) {
      const record = this.#nextRecord()
      if (record === undefined) return frames
      frames.push(...this.#read(record))
    }
  }

  rest(): Buffer {
    return Buffer.concat([...this.#records, this.#held])
  }

  #nextRecord(): Buffer | undefined {
    const held = this.#held
    if (held.length === 0) return undefined
    if (held.length >= headBytes && (types[held[0] as 20] === undefined || held.readUInt16BE(3) > recordBytesMax))
      this.#isRaw = true
    const length = this.#isRaw ? held.length : held.length < headBytes ? headBytes : headBytes + held.readUInt16BE(3)
    if (held.length < length) return undefined
    this.#held = held.subarray(length)
    return held.subarray(0, length)
  }

  #read(record: Buffer): Frame[] {
    if (this.#isRaw) return this.#framed(record, lengthLabel(record))
    const opened = this.#open(record)
    if (opened === 'sealed') return this.#framed(record, `TLS ${lengthLabel(record.subarray(headBytes))}`)
    if (opened.type !== data) return this.#framed(record, `TLS ${labelOf(opened)}`)
    const frames = this.#inside.push(opened.content)
    if (frames.length > 0) return this.#framed(record, joinedLabel(frames.map(({ label }) => label)))
    this.#records.push(record)
    return []
  }

  /** A frame of this record, and of those before it that had only begun one. */
  #framed(record: Buffer, label: string): Frame[] {
    const bytes = this.#records.length === 0 ? record : Buffer.concat([...this.#records, record])
    this.#records = []
    return [{ bytes, label }]
  }

  #open(record: Buffer): Opened | 'sealed' {
    const session = this.#session
    const plain = { type: record[0]!, content: record.subarray(headBytes) }
    if (plain.type === changeCipher) this.#hasChanged = true
    // TLS 1.3 seals nothing but records of data, whatever is in them.
    const isSealed12 = this.#hasChanged && !session.is13
    if (plain.type === handshake && isSealed12) {
      session.sealed(this.#direction)
      return { type: handshake, content: Buffer.from([finished]) }
    }
    if (plain.type !== data && !(plain.type === alert && isSealed12)) {
      if (!this.#hasChanged) this.#learn(plain)
      return plain
    }
    const opened = session.isLogged(this.#direction) ? this.#opened(record) : undefined
    session.sealed(this.#direction)
    if (opened === undefined) this.#sealed += 1
    return opened ?? 'sealed'
  }

  /** Of the handshake of TLS 1.3 no secrets are asked for: until a record is opened with those of the traffic, it goes on. */
  #opened(record: Buffer): Opened | undefined {
    if (this.#opener) return this.#opener.open(record)
    for (const opener of this.#openers()) {
      const opened = opener.open(record)
      if (opened === undefined) continue
      this.#opener = opener
      return opened
    }
    return undefined
  }

  *#openers(): Generator<Opener> {
    const { log, clientRandom, serverRandom, suite, is13 } = this.#session
    if (clientRandom === undefined || serverRandom === undefined || suite === undefined) return
    if (!is13) {
      const master = log.secret('CLIENT_RANDOM', clientRandom)
      if (master) yield new Opener12(suite, this.#direction, { master, clientRandom, serverRandom })
      return
    }
    const label = this.#direction === 'forward' ? 'CLIENT_TRAFFIC_SECRET_0' : 'SERVER_TRAFFIC_SECRET_0'
    const secret = log.secret(label, clientRandom)
    if (secret) for (let before = 0; before <= this.#sealed; before++) yield new Opener13(suite, secret, before)
  }

  /** What the hellos say. */
  #learn({ type, content }: Opened): void {
    if (type !== handshake || content.length < 4 + 2 + 32) return
    const random = Buffer.from(content.subarray(6, 38))
    if (content[0] === 1) this.#session.clientRandom = random
    if (content[0] !== 2) return
    const afterId = 39 + (content[38] ?? 0)
    if (content.length < afterId + 2) return
    this.#session.serverRandom = random
    this.#session.suite = suites[content.readUInt16BE(afterId)]
    this.#session.is13 = extensionsIn(content.subarray(0, 4 + content.readUIntBE(1, 3)), afterId + 3).has(
      supportedVersions,
    )
  }
}

/** A server that takes TLS 1.3 says so by this extension. */
const supportedVersions = 43

const extensionsIn = (hello: Buffer, at: number): ReadonlySet<number> => {
  const found = new Set<number>()
  for (let place = at + 2; place + 4 <= hello.length; place += 4 + hello.readUInt16BE(place + 2))
    found.add(hello.readUInt16BE(place))
  return found
}

const labelOf = ({ type, content }: Opened): string => {
  if (type === handshake) return messages[content[0] ?? -1] ?? 'handshake'
  if (type === alert && content.length === 2) return content[1] === 0 ? 'close' : `alert ${content[1]}`
  return shortLabel(types[type as 20] ?? `record ${type}`)
}
