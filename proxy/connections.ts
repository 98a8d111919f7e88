import { isIpv6 } from '../linux/address.ts'
import { Connection, type ConnectionMark, describeConnection, type OpenConnection } from './connection.ts'
import type { Dissector } from './dissector.ts'
import type { ConnectionNames, Counters, End, RoomOf } from './end.ts'
import type { Division } from './framing.ts'
import { freePort, type Host, type Hosts } from './hosts.ts'
import type { LabelOf } from './label.ts'
import type { Message } from './message.ts'
import type { Segment } from './packets/packet.ts'
import * as tcp from './tcp.ts'
import { WayCounts, type WayCountsMark } from './way.ts'

export interface ConnectionsMark {
  readonly numbers: WayCountsMark
  readonly all: readonly ConnectionMark[]
}

/** A segment that a played host sends on a connection. */
export interface PlayedSegment {
  readonly transport: 'tcp'
  readonly from: string
  readonly to: string
  readonly kind: 'open' | 'accept' | 'refuse' | 'data' | 'close' | 'abort'
  readonly port: number
  /** The host that opened the connection, and its number among those that it opened to the other. */
  readonly opener: string
  readonly number: number
  readonly bytes: Buffer
  /** The dissector's label. */
  readonly meaning: string | undefined
  /** Whether the connection's readers have read it already, because it was in flight when the execution was marked. */
  readonly isRead?: boolean
}

/** All TCP connections between nodes. */
export class Connections {
  readonly #dissector: (port: number) => Dissector | undefined
  readonly #messageBytesMax: number
  readonly #numbers: WayCounts
  readonly #counters: Counters
  #all: Connection[]
  #over: ConnectionNames[] = []
  /** Requests that were answered in this step by their end. */
  #ended: tcp.Side[] = []

  /** @param mark of connections to continue */
  constructor(
    hosts: Hosts,
    ordinals: WayCounts,
    labelOf: LabelOf,
    dissector: (port: number) => Dissector | undefined,
    messageBytesMax: number,
    roomOf: RoomOf,
    { numbers, all }: ConnectionsMark = { numbers: [], all: [] },
  ) {
    this.#dissector = dissector
    this.#messageBytesMax = messageBytesMax
    this.#numbers = new WayCounts(numbers)
    let asked = Math.max(0, ...all.map(({ ends }) => ends[1]!.asked))
    this.#counters = {
      nextOrdinal: (way, frames) => ordinals.next(way, frames),
      nextAsked: () => ++asked,
      labelOf,
      roomOf,
    }
    this.#all = all.map(mark => {
      const { opener, listener, ...rest } = mark.names
      const names = { opener: hosts.get(opener), listener: hosts.get(listener), ...rest }
      const connection = this.#connectionOf(names)
      connection.resume(mark)
      return connection
    })
  }

  mark(): ConnectionsMark {
    return { numbers: this.#numbers.mark(), all: this.#all.map(connection => connection.mark()) }
  }

  // Called in each step for all connections. Loops, because flatMap took a fifth of a step with sixty nodes.

  ends(): End[] {
    const all: End[] = []
    for (const { ends } of this.#all) all.push(ends[0], ends[1])
    return all
  }

  /** The first message of each direction. */
  heads(): Message[] {
    const heads: Message[] = []
    for (const { ends } of this.#all) for (const { queue } of ends) if (queue[0]) heads.push(queue[0])
    return heads
  }

  held(): Message[] {
    const held: Message[] = []
    for (const { ends } of this.#all) for (const { queue } of ends) for (const message of queue) held.push(message)
    return held
  }

  /** A node's requests for connections that are in flight, each with the port that its kernel requested it from. */
  requestsOf(name: string): { readonly request: Message; readonly port: number }[] {
    return this.#all.flatMap(({ opener: { side, queue }, names: { opener } }) => {
      const request = opener === name ? queue.find(({ kind }) => kind === 'open') : undefined
      return request && side ? [{ request, port: side.nodePort }] : []
    })
  }

  describeOpen(): OpenConnection[] {
    return this.#all.filter(({ isOpen }) => isOpen).map(({ names }) => describeConnection(names))
  }

  /** Summaries of all connections, and the order of requests among those that may wait to be accepted. */
  shown(): string[] {
    const shown = this.#all.filter(({ isForgotten }) => !isForgotten).map(connection => connection.shown())
    const waiting = this.#all.filter(({ mayWait }) => mayWait)
    if (waiting.length < 2) return shown
    const order = waiting.sort((one, other) => one.listener.asked - other.listener.asked)
    return [
      ...shown,
      ...order.map(({ names: { opener, listener, number } }) => `${listener} accepts ${opener} ${number}`),
    ]
  }

  /**
   * Opens a connection between nodes. A kernel asks again after a second of real time, so the same request may come once
   * more when its answer is on the way.
   */
  open(from: Host, to: Host, syn: Segment): void {
    if (this.#ended.some(side => tcp.isOf(side, syn) && !tcp.isAnother(side, syn))) return
    const number = this.#numbers.next([from.name, to.name])
    const port = syn.destinationPort
    const names = { opener: from, listener: to, number, port, shownPort: freePort(from, to, port, number) }
    const connection = this.#connectionOf({ ...names, isSix: isIpv6(syn.destination) })
    this.#all.push(connection)
    connection.opener.open(syn)
  }

  #connectionOf(names: ConstructorParameters<typeof Connection>[0]): Connection {
    return new Connection(names, this.#dissector(names.port), this.#messageBytesMax, this.#counters)
  }

  /**
   * Sends something from a played host. Undefined if the connection does not exist, or exists already where it asks for one, or
   * the message could not arrive any more.
   */
  play(from: Host, to: Host, { kind, port, opener, number, ...pending }: PlayedSegment): Message | undefined {
    if (!this.isPlayable(from, to, { kind, opener, number })) return undefined
    if (kind === 'open') {
      const over = this.#endOf(from, to, opener, number)
      if (over) this.#all = this.#all.filter(({ ends }) => !ends.includes(over))
      const names = { opener: from, listener: to, number, port, shownPort: freePort(from, to, port, number) }
      this.#all.push(this.#connectionOf(names))
    }
    return this.#endOf(from, to, opener, number)?.play({ kind, ...pending })
  }

  /** Whether `play` would send it. */
  isPlayable(
    from: Host,
    to: Host,
    { kind, opener, number }: Pick<PlayedSegment, 'kind' | 'opener' | 'number'>,
  ): boolean {
    const end = this.#endOf(from, to, opener, number)
    // No node asks twice for the same one. Combined states of nodes may, and a kernel does not answer while it has that one.
    if (kind === 'open') return end === undefined || (end.isForgotten && end.other.isForgotten)
    return end?.isPlayable === true
  }

  #endOf(from: Host, to: Host, opener: string, number: number): End | undefined {
    return this.ends().find(
      ({ host, other, names }) =>
        host === from && other.host === to && names.opener === opener && names.number === number,
    )
  }

  /** Delivers what a node sent on a connection to a played host. Returns who opened the connection. */
  takeSent(message: Message): string {
    const end = this.ends().find(({ queue }) => queue.includes(message))!
    end.takeSent(message)
    return end.names.opener
  }

  /** Turns what was sent in the step into messages. */
  endStep(): void {
    this.#ended = []
    for (const { ends } of this.#all) for (const end of ends) end.endStep()
    if (!this.#all.some(isOver)) return
    this.#over.push(...this.#all.filter(isOver).map(({ names }) => names))
    this.#all = this.#all.filter(connection => !isOver(connection))
  }

  /** The connections that have ended since the last call: none of their messages will come. */
  takeOver(): readonly ConnectionNames[] {
    return this.#over.splice(0)
  }

  deliver(message: Message): void {
    const sender = this.#senderOf(message)
    if (sender === undefined)
      throw new Error(`cannot deliver ${message.label}: it is not the first that its connection holds`)
    const { side } = sender.other
    const wasAsked = side?.state === 'asked'
    sender.other.enter(message)
    if (wasAsked && side.state === 'over') this.#ended.push(side)
  }

  /** Divides a message that could be delivered. Returns both parts. */
  divide(message: Message, at: Division): readonly [Message, Message] {
    const sender = this.#senderOf(message)
    const { after, of } = at
    const length = message.kind === 'data' ? (message[of]?.length ?? 1) : 0
    if (sender === undefined || !(after > 0 && after < length))
      throw new Error(`cannot divide ${message.label} after ${after} of its ${of}`)
    return sender.divide(at)
  }

  /** Whether the receiver of a message can be told, in its place, that the connection was reset. */
  isBreakable(message: Message): boolean {
    const sender = this.#senderOf(message)
    if (sender === undefined || message.kind === 'abort' || message.kind === 'refuse') return false
    return message.kind === 'open' || sender.other.side?.state === 'open'
  }

  /**
   * In place of the first message that a connection holds, its receiver is told that the connection was reset. The
   * sender learns of it later. A request for a connection is refused.
   */
  breakAt(message: Message): void {
    if (!this.isBreakable(message))
      throw new Error(`cannot break ${message.label}: its receiver has no open connection`)
    const { other } = this.#senderOf(message)!
    if (message.kind === 'open') other.refuse()
    else other.breakOff()
  }

  /** Loses what tells an end that the connection was reset. No kernel sends it again. */
  loseAbort(message: Message): void {
    const sender = this.#senderOf(message)
    if (sender === undefined || message.kind !== 'abort') throw new Error(`cannot lose ${message.label}`)
    sender.other.loseAbort()
  }

  /** Refuses a request for a connection in place of its listener, which is down. */
  refuse(message: Message): void {
    const sender = this.#senderOf(message)
    if (message.kind !== 'open' || sender === undefined) throw new Error(`cannot refuse ${message.label}`)
    sender.other.refuse()
  }

  /** The end whose queue begins with a message. */
  #senderOf(message: Message): End | undefined {
    for (const { ends } of this.#all) for (const end of ends) if (end.queue[0] === message) return end
    return undefined
  }

  /** Resets an open connection at both ends and discards its messages in flight. */
  reset({ opener, listener, number, label }: OpenConnection): void {
    const connection = this.#all.find(
      ({ names }) => names.opener === opener && names.listener === listener && names.number === number,
    )
    if (!connection?.isOpen) throw new Error(`cannot reset ${label}: it is not open`)
    for (const end of connection.ends) end.reset()
  }
}

/**
 * Whether a connection can be removed. A played host may still send on a connection that its peer's kernel has
 * forgotten, and must be told so.
 */
const isOver = ({ isForgotten, ends }: Connection): boolean => isForgotten && !ends.some(({ host }) => host.isPlayed)
