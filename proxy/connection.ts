import type { Dissector, StreamReader } from './dissector.ts'
import { type ConnectionNames, type Counters, End } from './end.ts'
import { Framing } from './framing.ts'
import type { Host } from './hosts.ts'
import type { Message } from './message.ts'
import { copySide, describeSide } from './tcp.ts'

/** An open connection, by its names in the execution. */
export interface OpenConnection extends Pick<ConnectionNames, 'opener' | 'listener' | 'port' | 'number'> {
  /** `n1→n2 connection 2 :7000` */
  readonly label: string
}

/** A connection has carried too many bytes to be copied. */
export class CannotMark extends Error {
  override readonly name = 'CannotMark'
}

/** What the reader of one end has read, and which end. */
interface Read {
  readonly end: 0 | 1
  readonly bytes: Buffer
}

/** The readers of what the opener sends, and of what the listener sends. */
type Readers = readonly [StreamReader, StreamReader]

/** A connection's state between two steps. It never changes. */
export interface ConnectionMark {
  readonly names: ConnectionNames
  /** Readers in this state, to be copied; undefined if they cannot be copied, or there are none. */
  readonly readers: Readers | undefined
  /** What readers have read that cannot be copied. */
  readonly read: readonly Read[]
  readonly ends: readonly (Pick<End, 'side' | 'isMuted' | 'hasSpoken' | 'asked'> & {
    readonly queue: readonly Message[]
    readonly hasReader: boolean
  })[]
}

const readBytesMax = 16 << 20

/** A TCP connection between two nodes: its two ends, and the messages held between them. */
export class Connection {
  readonly names: ConnectionNames
  readonly opener: End
  readonly listener: End
  readonly ends: readonly [End, End]
  #readers: Readers | undefined
  /**
   * Everything that readers have read that cannot be copied, in order, to bring new ones to the same state. Undefined
   * once it is too much.
   */
  #read: Read[] | undefined = []
  #readBytes = 0

  constructor(
    {
      opener,
      listener,
      number,
      port,
      shownPort,
      isSix,
    }: Omit<ConnectionNames, 'opener' | 'listener'> & {
      readonly opener: Host
      readonly listener: Host
    },
    dissector: Dissector | undefined,
    messageBytesMax: number,
    counters: Counters,
  ) {
    this.names = { opener: opener.name, listener: listener.name, number, port, shownPort, ...(isSix && { isSix }) }
    const framing = (end: 0 | 1, reader: ReturnType<Dissector['stream']> | undefined) =>
      new Framing(reader, messageBytesMax, bytes => this.#keepRead({ end, bytes }))
    const forward = dissector?.stream('forward')
    const backward = dissector?.stream('backward', forward)
    if (forward && backward) this.#readers = [forward, backward]
    const { names } = this
    this.opener = new End({ host: opener, names, role: 'opener', framing: framing(0, forward) }, counters)
    this.listener = new End({ host: listener, names, role: 'listener', framing: framing(1, backward) }, counters)
    this.opener.other = this.listener
    this.listener.other = this.opener
    this.ends = [this.opener, this.listener]
  }

  /** Whether it is open at both ends, as far as they have kernels. */
  get isOpen(): boolean {
    return this.ends.every(({ side, host }) => host.isPlayed || side?.state === 'open')
  }

  /** Whether nobody can send any more and nothing is in flight. */
  get isForgotten(): boolean {
    return this.ends.every(end => end.isForgotten)
  }

  /** Whether the listener's kernel may still hold it in its backlog because the program has not accepted it. */
  get mayWait(): boolean {
    return this.listener.side?.state === 'open' && !this.listener.hasSpoken
  }

  /** Summary of its state between two steps, without the held messages. Equal for connections with the same future. */
  shown(): string {
    const { opener, listener, number, port } = this.names
    return `${opener}→${listener} ${number} :${port} ${showEnd(this.opener)} ${showEnd(this.listener)}`
  }

  /** @throws CannotMark */
  mark(): ConnectionMark {
    if (this.#read === undefined)
      throw new CannotMark(`${describeConnection(this.names).label} has carried more than ${readBytesMax >> 20} MiB`)
    return {
      names: this.names,
      readers: copyOf(this.#readers),
      read: [...this.#read],
      ends: this.ends.map(({ side, queue, framing, isMuted, hasSpoken, asked }) => ({
        side: side && copySide(side),
        queue: [...queue],
        isMuted,
        hasSpoken,
        asked,
        hasReader: framing.hasReader,
      })),
    }
  }

  /** Must be called on a new connection, which then continues like the marked one. */
  resume({ readers, read, ends }: ConnectionMark): void {
    this.#use(copyOf(readers))
    for (const { end, bytes } of read) this.ends[end].framing.resume(bytes)
    for (const [index, { side, queue, isMuted, hasSpoken, asked, hasReader }] of ends.entries()) {
      const end = this.ends[index]!
      Object.assign(end, { side: side && copySide(side), queue: [...queue], isMuted, hasSpoken, asked })
      if (!hasReader) end.framing.stop()
      end.face()
    }
  }

  #use(readers: Readers | undefined): void {
    if (readers === undefined) return
    this.#readers = readers
    for (const [index, reader] of readers.entries()) this.ends[index]!.framing.use(reader)
  }

  #keepRead(read: Read): void {
    if (this.#readers?.every(({ copy }) => copy)) return
    this.#readBytes += read.bytes.length
    if (this.#readBytes > readBytesMax) this.#read = undefined
    else this.#read?.push(read)
  }
}

const copyOf = (readers: Readers | undefined): Readers | undefined => {
  const forward = readers?.[0].copy?.()
  const backward = forward && readers?.[1].copy?.(forward)
  return forward && backward && [forward, backward]
}

export const describeConnection = ({ opener, listener, port, number }: ConnectionNames): OpenConnection => ({
  opener,
  listener,
  port,
  number,
  label: `${opener}→${listener} connection ${number} :${port}`,
})

const showEnd = ({ side, framing, isMuted }: End): string => {
  const half = framing.rest()
  return `${side ? describeSide(side) : 'gone'}${isMuted ? ' muted' : ''}${half.length > 0 ? ` half ${half.toString('base64')}` : ''}`
}
