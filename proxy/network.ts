/**
 * The message plane: the network of a system under check. Every node's kernel speaks to the router alone, through its
 * link; what nodes send each other is held here as messages until a choice delivers them.
 *
 * All of it is synchronous. `pump` moves packets until there are none; then `endStep` turns what was carried since the
 * last step into messages.
 */
import { formatAddress } from './address.ts'
import type { OpenConnection } from './connection.ts'
import { Connections, type ConnectionsMark, type PlayedSegment } from './connections.ts'
import { Cuts } from './cuts.ts'
import { type DatagramMessage, Datagrams, type HeaderAndPayload } from './datagrams.ts'
import type { Dissector } from './dissector.ts'
import type { PeersSee } from './endpoint.ts'
import { endKey, endpointsOf, type Host, Hosts } from './hosts.ts'
import { messageLabels } from './label.ts'
import type { Link } from './link.ts'
import type { Message } from './message.ts'
import { Outbox } from './outbox.ts'
import { type Ignored, type NotCarried, PacketReader } from './packet-reader.ts'
import { PacketWriter } from './packet-writer.ts'
import * as tcp from './tcp.ts'
import { findUnanswered, type Unanswered } from './unanswered.ts'
import type { VirtualHost } from './virtual-host.ts'
import { type StreamMark, VirtualHosts } from './virtual-hosts.ts'
import { type Way, WayCounts, type WayCountsMark } from './way.ts'

export type { NotCarried, OpenConnection, Unanswered, Way }

/** A message of a host that is played. */
export type PlayedMessage = ({ readonly transport: 'udp' } & HeaderAndPayload) | PlayedSegment

export interface NetworkOptions {
  /** The dissector for the service on this port, if there is one. */
  readonly dissector?: (port: number) => Dissector | undefined
  /** What is longer, and of no dissector, is several messages. */
  readonly messageBytesMax?: number
}

/** A network between two steps: plain data. */
export interface NetworkMark {
  readonly hosts: readonly { readonly name: string; readonly address: string; readonly isVirtual: boolean }[]
  readonly connections: ConnectionsMark
  readonly datagrams: readonly DatagramMessage[]
  readonly streams: readonly StreamMark[]
  readonly ordinals: WayCountsMark
  readonly virtualNumbers: WayCountsMark
  /** Keys of ways. */
  readonly cuts: readonly string[]
  readonly anomalies: Readonly<tcp.Anomalies>
  readonly ignored: Readonly<Ignored>
}

export class Network {
  readonly #hosts = new Hosts()
  readonly #connections: Connections
  readonly #datagrams: Datagrams
  readonly #virtualHosts: VirtualHosts
  readonly #reader: PacketReader
  readonly #writer = new PacketWriter(this.#hosts)
  readonly #cuts: Cuts
  readonly #ordinals: WayCounts
  readonly #anomalies: tcp.Anomalies

  /** @param mark of a network that goes on as this one, once its nodes are attached */
  constructor(
    { dissector = () => undefined, messageBytesMax = Number.POSITIVE_INFINITY }: NetworkOptions = {},
    mark?: NetworkMark,
  ) {
    this.#anomalies = { gaps: 0, retransmissions: 0, resent: 0, corrupt: 0, ...mark?.anomalies }
    this.#cuts = new Cuts(mark?.cuts)
    this.#ordinals = new WayCounts(mark?.ordinals)
    this.#virtualHosts = new VirtualHosts(this.#hosts, this.#writer, mark?.virtualNumbers)
    for (const host of mark?.hosts ?? []) this.#addHost(host.name, host.address, host.isVirtual)
    const labelOf = messageLabels(address => this.#hosts.at(address)?.name)
    this.#connections = new Connections(
      this.#hosts,
      this.#ordinals,
      labelOf,
      dissector,
      messageBytesMax,
      mark?.connections,
    )
    this.#datagrams = new Datagrams(this.#ordinals, labelOf, dissector, mark?.datagrams)
    for (const stream of mark?.streams ?? []) this.#virtualHosts.resume(stream)
    const [hosts, connections, datagrams] = [this.#hosts, this.#connections, this.#datagrams]
    const destinations = { hosts, connections, datagrams, cuts: this.#cuts, writer: this.#writer }
    this.#reader = new PacketReader(destinations, this.#anomalies, mark?.ignored)
  }

  /** All that it is between two steps, but for the nodes' links and what passes within a virtual host. */
  mark(): NetworkMark {
    const hosts = [...this.#hosts.all()]
    return {
      hosts: hosts.map(({ name, address, onDatagram }) => ({
        name,
        address: formatAddress(address),
        isVirtual: onDatagram !== undefined,
      })),
      connections: this.#connections.mark(),
      datagrams: [...this.#datagrams.held],
      streams: this.#virtualHosts.markStreams(),
      ordinals: this.#ordinals.mark(),
      virtualNumbers: this.#virtualHosts.numbers(),
      cuts: this.#cuts.keys(),
      anomalies: { ...this.#anomalies },
      ignored: this.#reader.ignored(),
    }
  }

  // Hosts

  /**
   * Puts a node on the network, or one that is down back on it with a fresh kernel behind `link`. The network owns the
   * link from now on.
   *
   * @throws Error if the node is up, or its name or address is another's
   */
  attach(name: string, address: string, link: Link): void {
    const host = this.#hosts.find(name) ?? this.#addHost(name, address, false)
    if (host.link !== undefined || host.onDatagram) throw new Error(`host ${name} is attached already`)
    if (formatAddress(host.address) !== address)
      throw new Error(`host ${name} was attached at ${formatAddress(host.address)}, it cannot be at ${address} now`)
    host.link = link
    host.outbox.clear()
  }

  /** A node that is down, and was never up, is known from now on: who speaks to it waits until it is attached. */
  announce(name: string, address: string): void {
    this.#addHost(name, address, false)
  }

  /**
   * The node is gone with its kernel, and its link is closed. What it sent stays in flight; what is sent to it waits
   * until it is attached again.
   */
  detach(name: string, peersSee: PeersSee): void {
    this.release(name, peersSee).close()
  }

  /** The same, but the link stays open, and is the caller's again. */
  release(name: string, peersSee: PeersSee): Link {
    const host = this.#hosts.getUp(name)
    const { link } = host
    ;(host as Host).link = undefined
    host.outbox.clear()
    const endpoints = endpointsOf(host)
    host.ends.clear()
    host.streams.clear()
    for (const endpoint of endpoints) endpoint.lose(peersSee)
    return link
  }

  /** The datagrams that a node has in flight, in the order in which it sent them. */
  datagramsOf(name: string): HeaderAndPayload[] {
    return this.#datagrams.held.filter(({ from }) => from === name)
  }

  /** Takes them as if they had just come from their node. */
  resend(datagrams: readonly HeaderAndPayload[]): void {
    for (const datagram of datagrams) this.#datagrams.hold(datagram)
  }

  /** Whether the node is attached. */
  isUp(name: string): boolean {
    return this.#hosts.get(name).link !== undefined
  }

  /** A host without a process; added, if it is not there. */
  virtualHost(name: string, address: string): VirtualHost {
    const known = this.#hosts.find(name)
    // One that comes with a mark is there already.
    const isKnown = known?.onDatagram !== undefined && formatAddress(known.address) === address
    return this.#virtualHosts.describe(isKnown ? known : this.#addHost(name, address, true))
  }

  /**
   * Puts a host on the network that nothing runs on: whoever plays it takes what is sent to it, and says what it sends. It
   * counts as up, and answers nothing by itself.
   */
  attachPlayed(name: string, address: string): void {
    this.attach(name, address, silent)
    this.#hosts.get(name).isPlayed = true
  }

  /** Takes all that a node has sent, as if it had entered its receivers' kernels, which are played; and who opened its connection. */
  takeSent(name: string): { readonly message: Message; readonly opener: string | undefined }[] {
    const sent = this.inFlight().filter(({ from }) => from === name)
    return sent.map(message => {
      if (message.transport === 'tcp') return { message, opener: this.#connections.takeSent(message) }
      this.#datagrams.take(message, 'deliver')
      return { message, opener: undefined }
    })
  }

  /**
   * Puts a message of a played host in flight, to be delivered at once. The step must have ended.
   *
   * @returns undefined where it is of a connection that is not there
   */
  play(message: PlayedMessage): Message | undefined {
    if (message.transport === 'udp') return this.#datagrams.hold(message)
    return this.#connections.play(this.#hosts.get(message.from), this.#hosts.get(message.to), message)
  }

  // Steps

  /** Handles the packets that all nodes, or these, sent until now. Gives false if there was none. */
  pump(names?: readonly string[]): boolean {
    let any = false
    for (const host of this.#those(names)) {
      if (this.#reader.drain(host)) any = true
    }
    return any
  }

  /**
   * To be called where these nodes rest, or all: each that is spoken to is given the next packet. Gives false if there was
   * none.
   */
  feed(names?: readonly string[]): boolean {
    let any = false
    for (const { outbox } of this.#those(names)) {
      if (outbox.sendNext()) any = true
    }
    return any
  }

  /** To be called where these nodes rest and there is nothing to feed them: the next packet enters at once. */
  rest(names: readonly string[]): void {
    for (const { outbox } of this.#those(names)) outbox.rest()
  }

  /** Whether something entered a node that was not said to rest since. */
  isRestless(name: string): boolean {
    const { link, outbox } = this.#hosts.get(name)
    return link !== undefined && outbox.isRestless
  }

  /** Ends a step, pumped and fed until there was nothing more: what each direction of each connection carried becomes messages. */
  endStep(): void {
    this.#connections.endStep()
  }

  /** To be called once the nodes of a mark, whose kernels were made again, are attached. */
  goOn(): void {
    for (const host of this.#hosts.all())
      for (const { side } of endpointsOf(host)) if (side && host.link) tcp.offerAgain(side, host)
  }

  // Messages

  /** The messages that may be delivered now, by receiver and sender (in the order they were attached) and ordinal. */
  deliverable(): readonly Message[] {
    const candidates = [...this.#datagrams.held, ...this.#connections.heads()]
    return this.#sorted(candidates.filter(message => this.#isPassable(message)))
  }

  /** The first messages that wait for these nodes, which are down, and whose way is not cut. */
  waitingFor(names: ReadonlySet<string>): readonly Message[] {
    if (names.size === 0) return []
    const candidates = [...this.#datagrams.held, ...this.#connections.heads()]
    return this.#sorted(candidates.filter(({ from, to }) => names.has(to) && !this.#cuts.has([from, to])))
  }

  /** All messages that are held, in the same order. */
  inFlight(): readonly Message[] {
    return this.#sorted([...this.#datagrams.held, ...this.#connections.held()])
  }

  /**
   * Puts a message of `deliverable()` into its receiver's kernel, which rests or is stopped. Nothing is pumped: several
   * messages can enter a node before it runs. Of one that is longer than a segment the rest follows while it is fed; data
   * that the receiver has no room for, also in later steps.
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
    if (datagram.kind === 'unreachable') this.#writer.unreachable(from, to, datagram)
    else this.#writer.datagram(from, to, datagram)
  }

  /** Loses a datagram. */
  drop(message: Message): void {
    this.#datagrams.take(message, 'drop')
  }

  /** The machine of a node that is down answers who asks for a connection that nobody listens there. */
  refuse(message: Message): void {
    this.#connections.refuse(message)
  }

  /** Puts a copy of a datagram in flight, and gives it: a message of its own. */
  duplicate(message: Message): Message {
    return this.#datagrams.duplicate(message)
  }

  /** The ways that are cut, as `n1→n2`, in the order of their names. */
  cuts(): readonly string[] {
    return this.#cuts.keys().sort()
  }

  /**
   * What is known of every connection but the messages that are held of it: who is in the middle of opening or closing it,
   * what does not fit into a window, who waits to be accepted. Equal for states that go on alike.
   */
  connectionStates(): readonly string[] {
    return [...this.#connections.shown(), ...this.#virtualHosts.shown()]
  }

  /**
   * What nodes that are up have of connections to which nothing gets through. To be asked between two steps; it is empty
   * in most executions.
   */
  unanswered(): Unanswered[] {
    return findUnanswered(this.#connections.ends(), this.#cuts)
  }

  // Faults of the network

  /** The open connections between nodes, in the order they were opened. */
  connections(): readonly OpenConnection[] {
    return this.#connections.describeOpen()
  }

  /** Resets a connection: both ends learn it at once, and what is in flight on it is gone. */
  resetConnection(connection: OpenConnection): void {
    this.#connections.reset(connection)
  }

  /** Cuts ways, besides those that are cut already: TCP is held, UDP is lost, also what is in flight. */
  cut(ways: readonly Way[]): void {
    for (const way of ways) {
      for (const name of way) this.#hosts.get(name)
      this.#cuts.add(way)
    }
    this.#datagrams.lose(this.#cuts)
  }

  /** Ends cuts: of these ways, or of all. */
  heal(ways?: readonly Way[]): void {
    if (ways === undefined) this.#cuts.clear()
    else for (const way of ways) this.#cuts.delete(way)
  }

  /** What a faithful network would not have done: an execution in which any is not 0 says nothing. */
  anomalies(): Readonly<tcp.Anomalies> {
    return { ...this.#anomalies }
  }

  ignored(): Readonly<Ignored> {
    return this.#reader.ignored()
  }

  notCarried(): readonly NotCarried[] {
    return this.#reader.notCarried()
  }

  /** What faces a connection of a node's kernel, as it is now; undefined where nothing does. */
  facing(name: string, port: number, peer: number, peerPort: number): tcp.Side | undefined {
    const host = this.#hosts.at(peer)
    if (host === undefined) return undefined
    const { ends, streams } = this.#hosts.get(name)
    const side = (host.onDatagram ? streams : ends).get(endKey(host, port, peerPort))?.side
    return side && tcp.copySide(side)
  }

  #those(names: readonly string[] | undefined): Iterable<Host> {
    return names === undefined ? this.#hosts.all() : names.map(name => this.#hosts.get(name))
  }

  #addHost(name: string, address: string, isVirtual: boolean): Host {
    const host: Host = this.#hosts.add(name, address, {
      link: undefined,
      outbox: new Outbox(),
      onDatagram: isVirtual ? datagram => this.#virtualHosts.receive(name, datagram) : undefined,
      anomalies: this.#anomalies,
      send: segment => this.#writer.segment(host, segment),
    })
    return host
  }

  #isPassable({ from, to }: Message): boolean {
    return this.#hosts.get(to).link !== undefined && !this.#cuts.has([from, to])
  }

  #sorted(messages: readonly Message[]): Message[] {
    if (messages.length < 2) return [...messages]
    // Looked up once for each message, and not in each comparison: sixty nodes have hundreds on their way.
    const places = messages.map(message => {
      return { message, to: this.#hosts.get(message.to).order, from: this.#hosts.get(message.from).order }
    })
    places.sort((a, b) => a.to - b.to || a.from - b.from || a.message.ordinal - b.message.ordinal)
    return places.map(({ message }) => message)
  }
}

const silent: Link = { read: () => 0, write: () => undefined, close: () => undefined }
