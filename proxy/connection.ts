/**
 * A TCP connection between two nodes, cut in the middle: each node speaks to a `Side` of ours, and what it sends is
 * held here until it is delivered to the other.
 */
import type { Dissector, Frame, StreamReader } from './dissector.ts'
import type { Message } from './message.ts'
import { copySide, type Side, shown } from './tcp.ts'
import type { Way } from './way.ts'

export interface Connection {
  readonly opener: End
  readonly listener: End
  /** Both. */
  readonly ends: readonly [End, End]
  /** The n-th that `opener.host` opened to `listener.host`, from 1. */
  readonly number: number
  /** The listener's. */
  readonly port: number
  /** The opener's, as the listener sees it. */
  readonly shownPort: number
  /** All that the readers have read, in order: read again, it makes others like them. Undefined once it is too much. */
  read: Read[] | undefined
  readBytes: number
}

/** A connection that has carried too much to be copied. */
export class CannotMark extends Error {
  override readonly name = 'CannotMark'
}

/** What the reader of one end has read; by the place of the end. */
export interface Read {
  readonly end: 0 | 1
  readonly bytes: Buffer
}

/** One end, and what it sent. */
export interface End {
  readonly host: string
  readonly connection: Connection
  /** What the host's kernel has of the connection; undefined before it was asked, and when it has nothing any more. */
  side: Side | undefined
  /** Sent in this step, in order; not a message yet. */
  carried: Carried[]
  /** Sent in earlier steps and not delivered. Only the first may be. */
  queue: Message[]
  /** Cuts what is sent into frames. */
  reader: StreamReader | undefined
  /** Nothing that this end sends can arrive any more: the other end reset the connection, or it did so itself. */
  isMuted: boolean
  /** Its host sent bytes or an end: a program has the connection, it waits in no backlog any more. */
  hasSpoken: boolean
  /** Of a listener: the how-many-th that was asked, of all connections. */
  asked: number
}

/** Bytes, or an event; `lost`: the host went down, and its peer sees nothing. */
export type Carried = Buffer | 'accept' | 'refuse' | 'close' | 'abort' | 'lost'

/** An open connection, as a reader knows it. */
export interface OpenConnection {
  readonly opener: string
  readonly listener: string
  readonly port: number
  readonly number: number
  /** `n1→n2 connection 2 :7000` */
  readonly label: string
}

export const createConnection = (
  { opener, listener, ...rest }: { opener: string; listener: string; number: number; port: number; shownPort: number },
  dissector: Dissector | undefined,
): Connection => {
  const connection = { ...rest, read: [], readBytes: 0 } as unknown as {
    -readonly [Key in keyof Connection]: Connection[Key]
  }
  connection.opener = createEnd(opener, connection, dissector?.stream('forward'))
  connection.listener = createEnd(listener, connection, dissector?.stream('backward', connection.opener.reader))
  connection.ends = [connection.opener, connection.listener]
  return connection
}

const createEnd = (host: string, connection: Connection, reader: StreamReader | undefined): End => ({
  host,
  connection,
  side: undefined,
  carried: [],
  queue: [],
  reader,
  isMuted: false,
  hasSpoken: false,
  asked: 0,
})

export const otherEnd = (end: End): End =>
  end === end.connection.opener ? end.connection.listener : end.connection.opener

export const describeConnection = ({ opener, listener, port, number }: Connection): OpenConnection => {
  const label = `${opener.host}→${listener.host} connection ${number} :${port}`
  return { opener: opener.host, listener: listener.host, port, number, label }
}

export const isOpen = ({ opener, listener }: Connection): boolean =>
  opener.side?.state === 'open' && listener.side?.state === 'open'

/**
 * Whether an end hears nothing, whatever its kernel sends: the way is cut, in one direction or both, or its peer is down;
 * or its peer came up again, and would say that it knows nothing of the connection.
 */
export const isUnanswered = (end: End, isCut: (way: Way) => boolean, isUp: (host: string) => boolean): boolean => {
  const { side, host } = end
  if (side?.state !== 'asked' && side?.state !== 'open') return false
  const other = otherEnd(end)
  const hears = !isCut([other.host, host])
  if (hears && other.queue.length > 0) return false
  return !hears || isCut([host, other.host]) || !isUp(other.host) || (isDenied(end) && end.queue.length === 0)
}

/** Whether its peer's kernel, which is up, has nothing of an open connection. */
export const isDenied = (end: End): boolean => end.side?.state === 'open' && otherEnd(end).side === undefined

/** Nobody can send, and nothing is in flight. */
export const isForgotten = (connection: Connection): boolean =>
  connection.ends.every(end => end.side === undefined && end.queue.length === 0 && end.carried.length === 0)

/**
 * All that is known of a connection between two steps but what is held of it as messages, in short: equal for
 * connections that go on alike.
 */
export const showConnection = (connection: Connection): string => {
  const { opener, listener, number, port } = connection
  return `${opener.host}→${listener.host} ${number} :${port} ${showEnd(opener)} ${showEnd(listener)}`
}

const showEnd = ({ side, reader, isMuted }: End): string => {
  const half = reader?.rest() ?? noBytes
  return `${side ? shown(side) : 'gone'}${isMuted ? ' muted' : ''}${half.length > 0 ? ` half ${half.toString('base64')}` : ''}`
}

/** Whether the listener's kernel may still hold it in its backlog, until the program accepts it. */
export const mayWait = ({ listener }: Connection): boolean => listener.side?.state === 'open' && !listener.hasSpoken

/** What the end carried since this was last called, as messages to be. */
export const takeCarried = (end: End): Pending[] => {
  const pending: Pending[] = []
  let stream: Buffer[] = []
  const endStream = () => {
    if (stream.length > 0) pending.push(...toMessages(end, Buffer.concat(stream)))
    stream = []
  }
  for (const item of end.carried) {
    if (typeof item !== 'string') {
      stream.push(item)
      continue
    }
    endStream()
    // After these nothing comes: what is not a whole frame will never be one.
    if (item === 'close' || item === 'abort' || item === 'lost') pending.push(...takeRest(end))
    if (item !== 'lost') pending.push({ kind: item, bytes: noBytes })
  }
  endStream()
  end.carried = []
  return pending
}

/** A message without its name. */
export interface Pending {
  readonly kind: Message['kind']
  readonly bytes: Buffer
  /** What the dissector made of it. */
  readonly meaning?: string
}

/** The bytes of an incomplete frame, as a message of their own. */
const takeRest = (end: End): Pending[] => {
  const rest = end.reader?.rest() ?? noBytes
  end.reader = undefined
  return rest.length === 0 ? [] : [{ kind: 'data', bytes: Buffer.from(rest) }]
}

const toMessages = ({ reader, connection, host }: End, bytes: Buffer): Pending[] => {
  if (reader === undefined) return [{ kind: 'data', bytes }]
  keepRead(connection, { end: host === connection.opener.host ? 0 : 1, bytes })
  return reader.push(bytes).map(fromFrame)
}

const readBytesMax = 16 << 20

const keepRead = (connection: Connection, read: Read): void => {
  connection.readBytes += read.bytes.length
  if (connection.readBytes > readBytesMax) connection.read = undefined
  else connection.read?.push(read)
}

const fromFrame = ({ bytes, label }: Frame): Pending => ({ kind: 'data', bytes, meaning: label })

const noBytes = Buffer.alloc(0)

/** A connection as it is between two steps: plain data. */
export interface ConnectionMark {
  readonly names: { readonly opener: string; readonly listener: string } & Pick<
    Connection,
    'number' | 'port' | 'shownPort'
  >
  readonly read: readonly Read[]
  readonly ends: readonly (Pick<End, 'side' | 'isMuted' | 'hasSpoken' | 'asked'> & {
    readonly queue: readonly Message[]
    readonly hasReader: boolean
  })[]
}

/** @throws CannotMark */
export const markConnection = (connection: Connection): ConnectionMark => {
  const { opener, listener, number, port, shownPort, read, ends } = connection
  if (read === undefined) {
    const { label } = describeConnection(connection)
    throw new CannotMark(`${label} has carried more than ${readBytesMax >> 20} MiB`)
  }
  return {
    names: { opener: opener.host, listener: listener.host, number, port, shownPort },
    read: [...read],
    ends: ends.map(({ side, queue, reader, isMuted, hasSpoken, asked }) => ({
      side: side && copySide(side),
      queue: [...queue],
      isMuted,
      hasSpoken,
      asked,
      hasReader: reader !== undefined,
    })),
  }
}

/** Another such connection. */
export const connectionFrom = (mark: ConnectionMark, dissector: Dissector | undefined): Connection => {
  const connection = createConnection(mark.names, dissector)
  for (const read of mark.read) {
    connection.ends[read.end].reader?.push(read.bytes)
    keepRead(connection, read)
  }
  for (const [index, { side, queue, isMuted, hasSpoken, asked, hasReader }] of mark.ends.entries()) {
    const end = connection.ends[index]!
    end.side = side && copySide(side)
    end.queue = [...queue]
    end.isMuted = isMuted
    end.hasSpoken = hasSpoken
    end.asked = asked
    if (!hasReader) end.reader = undefined
  }
  return connection
}
