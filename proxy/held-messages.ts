import type { Connections, PlayedSegment } from './connections.ts'
import type { Cuts } from './cuts.ts'
import type { Datagrams, HeaderAndPayload } from './datagrams.ts'
import { type Division, framePart } from './framing.ts'
import type { Hosts } from './hosts.ts'
import type { LabelOf } from './label.ts'
import type { Message } from './message.ts'
import type { PacketWriter } from './packet-writer.ts'

/** A message of a played host. */
export type PlayedMessage = ({ readonly transport: 'udp' } & HeaderAndPayload) | PlayedSegment

interface Parts {
  readonly hosts: Hosts
  readonly connections: Connections
  readonly datagrams: Datagrams
  readonly cuts: Cuts
  readonly writer: PacketWriter
  readonly labelOf: LabelOf
}

/** What nodes have sent each other and a network holds until a choice delivers, divides, drops or duplicates it. */
export class HeldMessages {
  readonly #hosts: Hosts
  readonly #connections: Connections
  readonly #datagrams: Datagrams
  readonly #cuts: Cuts
  readonly #writer: PacketWriter
  readonly #labelOf: LabelOf

  constructor({ hosts, connections, datagrams, cuts, writer, labelOf }: Parts) {
    this.#hosts = hosts
    this.#connections = connections
    this.#datagrams = datagrams
    this.#cuts = cuts
    this.#writer = writer
    this.#labelOf = labelOf
  }

  /** All held messages, by receiver and sender (in the order of attachment) and ordinal. */
  all(): readonly Message[] {
    return this.#sorted([...this.#datagrams.held, ...this.#connections.held()])
  }

  /** Held messages that may be delivered now, in the order of `all`. */
  deliverable(): readonly Message[] {
    const candidates = [...this.#datagrams.held, ...this.#connections.heads()]
    return this.#sorted(candidates.filter(message => this.#isPassable(message)))
  }

  /** The first messages for these nodes, which are down, in directions that are not cut. */
  waitingFor(names: ReadonlySet<string>): readonly Message[] {
    if (names.size === 0) return []
    const candidates = [...this.#datagrams.held, ...this.#connections.heads()]
    return this.#sorted(candidates.filter(({ from, to }) => names.has(to) && !this.#cuts.has([from, to])))
  }

  /** A node's datagrams in flight, in the order in which it sent them. */
  datagramsOf(name: string): HeaderAndPayload[] {
    return this.#datagrams.held.filter(({ from }) => from === name)
  }

  /** A node's requests for connections that are in flight, each with the port that its kernel requested it from. */
  requestsOf(name: string): { readonly request: Message; readonly port: number }[] {
    return this.#connections.requestsOf(name)
  }

  /**
   * Puts a message of `deliverable()` into its receiver's kernel, while that rests or is stopped. Nothing is pumped, so
   * several messages can enter a node before it runs. The rest of a message that is longer than a segment follows while
   * the node is fed; data for which the receiver has no room follows in later steps.
   */
  deliver(message: Message): void {
    if (!this.#isPassable(message))
      throw new Error(`cannot deliver ${message.label}: the way is cut or the host is down`)
    this.#hosts.get(message.to).outbox.rest()
    if (message.transport !== 'udp') {
      this.#connections.deliver(message)
      return
    }
    const datagram = this.#datagrams.take(message, 'deliver')
    const [from, to] = [this.#hosts.get(datagram.from), this.#hosts.get(datagram.to)]
    if (datagram.packet) this.#writer.whole(to, datagram.packet)
    else if (datagram.kind === 'unreachable') this.#writer.unreachable(from, to, datagram)
    else this.#writer.datagram(from, to, datagram)
  }

  /**
   * Divides a message of `deliverable()`, between two of its frames or two bytes of its data.
   *
   * @returns both parts, the first of which can be delivered now
   */
  divide(message: Message, at: Division): readonly [Message, Message] {
    return this.#connections.divide(message, at)
  }

  /** The part of a divided message that would arrive first. */
  beginningOf(message: Message, count: number): Message {
    return framePart(message, [0, count], this.#labelOf)
  }

  /** Loses a datagram, or what tells of a connection's reset: both come once. */
  drop(message: Message): void {
    if (message.transport === 'udp') this.#datagrams.take(message, 'drop')
    else this.#connections.loseAbort(message)
  }

  /** The machine of a node that is down refuses a request for a connection. */
  refuse(message: Message): void {
    this.#connections.refuse(message)
  }

  /** Puts a copy of a datagram in flight as a message of its own, and returns it. */
  duplicate(message: Message): Message {
    return this.#datagrams.duplicate(message)
  }

  /** Takes datagrams as if their node had just sent them. */
  resend(datagrams: readonly HeaderAndPayload[]): void {
    for (const datagram of datagrams) this.#datagrams.hold(datagram)
  }

  /**
   * Takes all messages of a node as if the receivers' kernels, which are played, had received them. `opener` is the
   * host that opened the message's connection.
   */
  takeSent(name: string): { readonly message: Message; readonly opener: string | undefined }[] {
    const sent = this.all().filter(({ from }) => from === name)
    return sent.map(message => {
      if (message.transport === 'tcp') return { message, opener: this.#connections.takeSent(message) }
      this.#datagrams.take(message, 'deliver')
      return { message, opener: undefined }
    })
  }

  /**
   * Puts a message of a played host in flight, to be delivered at once. The step must have ended.
   *
   * @returns undefined if its connection does not exist
   */
  play(message: PlayedMessage): Message | undefined {
    if (message.transport === 'udp') return this.#datagrams.hold(message)
    return this.#connections.play(this.#hosts.get(message.from), this.#hosts.get(message.to), message)
  }

  /** Whether `play` would put it in flight. */
  isPlayable(message: PlayedMessage): boolean {
    if (message.transport === 'udp') return true
    return this.#connections.isPlayable(this.#hosts.get(message.from), this.#hosts.get(message.to), message)
  }

  #isPassable({ from, to }: Message): boolean {
    return this.#hosts.get(to).link !== undefined && !this.#cuts.has([from, to])
  }

  #sorted(messages: readonly Message[]): Message[] {
    if (messages.length < 2) return [...messages]
    // Looked up once for each message rather than in each comparison, because sixty nodes have hundreds in flight.
    const places = messages.map(message => {
      return { message, to: this.#hosts.get(message.to).order, from: this.#hosts.get(message.from).order }
    })
    places.sort((a, b) => a.to - b.to || a.from - b.from || a.message.ordinal - b.message.ordinal)
    return places.map(({ message }) => message)
  }
}
