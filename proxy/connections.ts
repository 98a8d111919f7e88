import { Connection, type ConnectionMark, describeConnection, type OpenConnection } from './connection.ts'
import type { Dissector } from './dissector.ts'
import type { Counters, End } from './end.ts'
import { freePort, type Host, type Hosts } from './hosts.ts'
import type { LabelOf } from './label.ts'
import type { Message } from './message.ts'
import type { Segment } from './packet.ts'
import { WayCounts, type WayCountsMark } from './way.ts'

export interface ConnectionsMark {
  readonly numbers: WayCountsMark
  readonly all: readonly ConnectionMark[]
}

/** Of a connection of which one end is played: what that end sends. */
export interface PlayedSegment {
  readonly transport: 'tcp'
  readonly from: string
  readonly to: string
  readonly kind: 'open' | 'accept' | 'refuse' | 'data' | 'close' | 'abort'
  readonly port: number
  /** Who opened it, and the how-many-th it is that this host opened to the other. */
  readonly opener: string
  readonly number: number
  readonly bytes: Buffer
  /** What a dissector made of it. */
  readonly meaning: string | undefined
}

/** The TCP between nodes. */
export class Connections {
  readonly #dissector: (port: number) => Dissector | undefined
  readonly #messageBytesMax: number
  readonly #numbers: WayCounts
  readonly #counters: Counters
  #all: Connection[]

  /** @param mark of connections that go on here */
  constructor(
    hosts: Hosts,
    ordinals: WayCounts,
    labelOf: LabelOf,
    dissector: (port: number) => Dissector | undefined,
    messageBytesMax: number,
    { numbers, all }: ConnectionsMark = { numbers: [], all: [] },
  ) {
    this.#dissector = dissector
    this.#messageBytesMax = messageBytesMax
    this.#numbers = new WayCounts(numbers)
    let asked = Math.max(0, ...all.map(({ ends }) => ends[1]!.asked))
    this.#counters = { nextOrdinal: way => ordinals.next(way), nextAsked: () => ++asked, labelOf }
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

  // These are asked for in each step, of all connections: loops, for flatMap took a fifth of a step of sixty nodes.

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

  describeOpen(): OpenConnection[] {
    return this.#all.filter(({ isOpen }) => isOpen).map(({ names }) => describeConnection(names))
  }

  /** What is known of each, and in which order those were asked for that may wait to be accepted. */
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

  /** A node asks another for a connection. */
  open(from: Host, to: Host, syn: Segment): void {
    const number = this.#numbers.next([from.name, to.name])
    const port = syn.destinationPort
    const names = { opener: from, listener: to, number, port, shownPort: freePort(from, to, port, number) }
    const connection = this.#connectionOf(names)
    this.#all.push(connection)
    connection.opener.open(syn)
  }

  #connectionOf(names: ConstructorParameters<typeof Connection>[0]): Connection {
    return new Connection(names, this.#dissector(names.port), this.#messageBytesMax, this.#counters)
  }

  /** A host that is played sends something. Undefined where there is no such connection, or it cannot arrive any more. */
  play(from: Host, to: Host, { kind, port, opener, number, ...pending }: PlayedSegment): Message | undefined {
    if (kind === 'open') {
      const names = { opener: from, listener: to, number, port, shownPort: freePort(from, to, port, number) }
      this.#all.push(this.#connectionOf(names))
    }
    const end = this.ends().find(
      ({ host, other, names }) =>
        host === from && other.host === to && names.opener === opener && names.number === number,
    )
    return end?.play({ kind, ...pending })
  }

  /** What a node sent on a connection enters the kernel of a host that is played. Gives who opened it. */
  takeSent(message: Message): string {
    const end = this.ends().find(({ queue }) => queue.includes(message))!
    end.takeSent(message)
    return end.names.opener
  }

  /** What was carried in the step becomes messages. */
  endStep(): void {
    for (const { ends } of this.#all) for (const end of ends) end.endStep()
    if (this.#all.some(isOver)) this.#all = this.#all.filter(connection => !isOver(connection))
  }

  deliver(message: Message): void {
    const sender = this.#senderOf(message)
    if (sender === undefined)
      throw new Error(`cannot deliver ${message.label}: it is not the first that its connection holds`)
    sender.other.enter(message)
  }

  /** Answers a message that asks for a connection, in place of its listener, which is down: nobody listens there. */
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

  /** Resets an open connection at both ends; what is in flight on it is gone. */
  reset({ opener, listener, number, label }: OpenConnection): void {
    const connection = this.#all.find(
      ({ names }) => names.opener === opener && names.listener === listener && names.number === number,
    )
    if (!connection?.isOpen) throw new Error(`cannot reset ${label}: it is not open`)
    for (const end of connection.ends) end.reset()
  }
}

/** Whoever is played may yet say something on a connection that its peer's kernel has nothing of, and is told so. */
const isOver = ({ isForgotten, ends }: Connection): boolean => isForgotten && !ends.some(({ host }) => host.isPlayed)
