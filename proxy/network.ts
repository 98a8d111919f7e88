/**
 * The message plane: the network of a system under check. Every node's kernel speaks only to the router, through its
 * link. What nodes send each other is held here as messages until a choice delivers them.
 *
 * All of it is synchronous. `pump` moves packets until there are none; then `endStep` turns what was sent since the
 * last step into messages.
 */
import { formatAddress } from '../linux/address.ts'
import type { Link } from '../linux/link.ts'
import type { OpenConnection } from './connection.ts'
import { Connections, type ConnectionsMark, type PlayedSegment } from './connections.ts'
import { Cuts } from './cuts.ts'
import { type DatagramMessage, Datagrams, type HeaderAndPayload } from './datagrams.ts'
import type { Dissector } from './dissector.ts'
import type { ConnectionNames } from './end.ts'
import type { PeersSee } from './endpoint.ts'
import { partOf } from './framing.ts'
import { endKey, endpointsOf, type Host, Hosts } from './hosts.ts'
import { type LabelOf, messageLabels } from './label.ts'
import type { Message } from './message.ts'
import { Outbox } from './outbox.ts'
import { type Ignored, type NotCarried, PacketReader } from './packet-reader.ts'
import { PacketWriter } from './packet-writer.ts'
import type { RouterOnWay } from './routers.ts'
import * as tcp from './tcp.ts'
import { findUnanswered, type Unanswered } from './unanswered.ts'
import { UpHosts } from './up-hosts.ts'
import type { VirtualHost } from './virtual-host.ts'
import { type StreamMark, VirtualHosts } from './virtual-hosts.ts'
import { type Way, WayCounts, type WayCountsMark } from './way.ts'

export type { NotCarried, OpenConnection, Unanswered, Way }

/** A message of a played host. */
export type PlayedMessage = ({ readonly transport: 'udp' } & HeaderAndPayload) | PlayedSegment

export interface NetworkOptions {
  /** The dissector for the service on this port, if there is one. */
  readonly dissector?: (port: number) => Dissector | undefined
  /** Longer data is split into several messages; with a dissector, between its frames. */
  readonly messageBytesMax?: number
  /** The routers that a packet passes; none by default. */
  readonly routersBetween?: (from: string, to: string) => readonly RouterOnWay[]
}

/** The state of a network between two steps, as plain data. */
export interface NetworkMark {
  readonly hosts: readonly { readonly name: string; readonly address: string; readonly isVirtual: boolean }[]
  readonly connections: ConnectionsMark
  readonly datagrams: readonly DatagramMessage[]
  readonly streams: readonly StreamMark[]
  readonly ordinals: WayCountsMark
  readonly virtualNumbers: WayCountsMark
  /** Keys of the cut directions. */
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
  readonly #labelOf: LabelOf
  #up: UpHosts | undefined

  /** @param mark of a network to continue, once its nodes are attached */
  constructor(
    {
      dissector = () => undefined,
      messageBytesMax = Number.POSITIVE_INFINITY,
      routersBetween = () => [],
    }: NetworkOptions = {},
    mark?: NetworkMark,
  ) {
    this.#anomalies = { gaps: 0, retransmissions: 0, resent: 0, corrupt: 0, ...mark?.anomalies }
    this.#cuts = new Cuts(mark?.cuts)
    this.#ordinals = new WayCounts(mark?.ordinals)
    this.#virtualHosts = new VirtualHosts(this.#hosts, this.#writer, mark?.virtualNumbers)
    for (const host of mark?.hosts ?? []) this.#addHost(host.name, host.address, host.isVirtual)
    const labelOf = messageLabels(address => this.#hosts.at(address)?.name)
    this.#labelOf = labelOf
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
    const destinations = { hosts, connections, datagrams, cuts: this.#cuts, writer: this.#writer, routersBetween }
    this.#reader = new PacketReader(destinations, this.#anomalies, mark?.ignored)
  }

  /** Its whole state between two steps, except the nodes' links and what happens inside virtual hosts. */
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
   * Attaches a new node, or one that was down and has a fresh kernel behind `link`. The network owns the link from then
   * on.
   *
   * @throws Error if the node is up, or its name or address belongs to another
   */
  attach(name: string, address: string, link: Link): void {
    const host = this.#hosts.find(name) ?? this.#addHost(name, address, false)
    if (host.link !== undefined || host.onDatagram) throw new Error(`host ${name} is attached already`)
    if (formatAddress(host.address) !== address)
      throw new Error(`host ${name} was attached at ${formatAddress(host.address)}, it cannot be at ${address} now`)
    host.link = link
    this.#up = undefined
    host.outbox.clear()
  }

  /** Makes a node known that was never up. Messages to it wait until it is attached. */
  announce(name: string, address: string): void {
    this.#addHost(name, address, false)
  }

  /**
   * Removes a node with its kernel and closes its link. What it sent stays in flight. What is sent to it waits until it
   * is attached again.
   */
  detach(name: string, peersSee: PeersSee): void {
    this.release(name, peersSee).close()
  }

  /** The same, but the link stays open and is returned to the caller. */
  release(name: string, peersSee: PeersSee): Link {
    const host = this.#hosts.getUp(name)
    const { link } = host
    ;(host as Host).link = undefined
    this.#up = undefined
    host.outbox.clear()
    const endpoints = endpointsOf(host)
    host.ends.clear()
    host.streams.clear()
    for (const endpoint of endpoints) endpoint.lose(peersSee)
    return link
  }

  /** A node's datagrams in flight, in the order in which it sent them. */
  datagramsOf(name: string): HeaderAndPayload[] {
    return this.#datagrams.held.filter(({ from }) => from === name)
  }

  /** A node's requests for connections that are in flight, each with the port that its kernel requested it from. */
  requestsOf(name: string): { readonly request: Message; readonly port: number }[] {
    return this.#connections.requestsOf(name)
  }

  /** Takes them as if their node had just sent them. */
  resend(datagrams: readonly HeaderAndPayload[]): void {
    for (const datagram of datagrams) this.#datagrams.hold(datagram)
  }

  /** Whether the node is attached. */
  isUp(name: string): boolean {
    return this.#hosts.get(name).link !== undefined
  }

  /** A host without a process. It is added if it does not exist. */
  virtualHost(name: string, address: string): VirtualHost {
    const known = this.#hosts.find(name)
    // A host from a mark exists already.
    const isKnown = known?.onDatagram !== undefined && formatAddress(known.address) === address
    return this.#virtualHosts.describe(isKnown ? known : this.#addHost(name, address, true))
  }

  /**
   * Attaches a host without a process. The search takes what is sent to it and decides what it sends. It counts as up
   * and answers nothing by itself.
   */
  attachPlayed(name: string, address: string): void {
    this.attach(name, address, silent)
    this.#hosts.get(name).isPlayed = true
  }

  /**
   * Takes everything that a node has sent as if it had entered the receivers' kernels, which are played. Also returns
   * who opened each connection.
   */
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

  // Steps

  /** Handles the packets that all nodes, or these, have sent. Returns false if there were none. */
  pump(names?: readonly string[]): boolean {
    let any = false
    for (const host of names ? this.#those(names) : this.#talking()) {
      if (this.#reader.drain(host)) any = true
    }
    return any
  }

  /**
   * Call when these nodes, or all, rest: each that has packets waiting gets the next one. Returns false if there was
   * none.
   */
  feed(names?: readonly string[]): boolean {
    let any = false
    for (const { outbox } of this.#those(names)) {
      if (outbox.sendNext()) any = true
    }
    return any
  }

  /** Call when these nodes rest and nothing waits for them: the next packet then enters at once. */
  rest(names: readonly string[]): void {
    for (const { outbox } of this.#those(names)) outbox.rest()
  }

  /** Whether something entered a node since it was last reported to rest. */
  isRestless(name: string): boolean {
    const { link, outbox } = this.#hosts.get(name)
    return link !== undefined && outbox.isRestless
  }

  /**
   * Ends a step after pumping and feeding until nothing was left: what each direction of each connection carried
   * becomes messages.
   */
  endStep(): void {
    this.#connections.endStep()
  }

  /** Call after the nodes of a mark, with restored kernels, were attached. */
  goOn(): void {
    for (const host of this.#hosts.all())
      for (const { side } of endpointsOf(host)) if (side && host.link) tcp.offerAgain(side, host)
  }

  // Messages

  /** The messages that may be delivered now, by receiver and sender (in the order of attachment) and ordinal. */
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

  /** All held messages, in the same order. */
  inFlight(): readonly Message[] {
    return this.#sorted([...this.#datagrams.held, ...this.#connections.held()])
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
   * Divides a message of `deliverable()` that holds several frames, after so many of them.
   *
   * @returns both parts, the first of which can be delivered now
   */
  divide(message: Message, count: number): readonly [Message, Message] {
    return this.#connections.divide(message, count)
  }

  /** What would arrive first of a message that is divided after so many of its frames. */
  beginningOf(message: Message, count: number): Message {
    return partOf(message, [0, count], this.#labelOf)
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

  /** The cut directions, as `n1→n2`, sorted by name. */
  cuts(): readonly string[] {
    return this.#cuts.keys().sort()
  }

  /**
   * The states of all connections, without held messages: which are being opened or closed, what does not fit into a
   * window, which wait to be accepted. Equal for states with the same future.
   */
  connectionStates(): readonly string[] {
    return [...this.#connections.shown(), ...this.#virtualHosts.shown()]
  }

  /** Connections of running nodes on which nothing gets through. Call it between two steps. It is usually empty. */
  unanswered(): Unanswered[] {
    return findUnanswered(this.#connections.ends(), this.#cuts)
  }

  // Faults of the network

  /** The open connections between nodes, in the order in which they were opened. */
  connections(): readonly OpenConnection[] {
    return this.#connections.describeOpen()
  }

  /** The connections that have ended since the last call: none of their messages will come. */
  connectionsOver(): readonly ConnectionNames[] {
    return this.#connections.takeOver()
  }

  /** Resets a connection: both ends learn of it at once, and its messages in flight are discarded. */
  resetConnection(connection: OpenConnection): void {
    this.#connections.reset(connection)
  }

  /** Whether the receiver of a held message can be told, in its place, that the connection was reset. */
  isBreakable(message: Message): boolean {
    return this.#connections.isBreakable(message)
  }

  /**
   * Resets the connection of a held message in place of delivering it: the receiver learns of it at once, the sender by
   * a message. A request for a connection is refused.
   */
  breakAt(message: Message): void {
    this.#connections.breakAt(message)
  }

  /** Cuts further directions: TCP is held, UDP is lost, including what is in flight. */
  cut(ways: readonly Way[]): void {
    for (const way of ways) {
      for (const name of way) this.#hosts.get(name)
      this.#cuts.add(way)
    }
    this.#datagrams.lose(this.#cuts)
  }

  /** Heals these directions, or all. */
  heal(ways?: readonly Way[]): void {
    if (ways === undefined) this.#cuts.clear()
    else for (const way of ways) this.#cuts.delete(way)
  }

  /** Counts of what a faithful network would not do. An execution in which any is not 0 proves nothing. */
  anomalies(): Readonly<tcp.Anomalies> {
    return { ...this.#anomalies }
  }

  ignored(): Readonly<Ignored> {
    return this.#reader.ignored()
  }

  notCarried(): readonly NotCarried[] {
    return this.#reader.notCarried()
  }

  /** The present counterpart of a connection of a node's kernel; undefined if there is none. */
  facing(name: string, port: number, peer: number, peerPort: number): tcp.Side | undefined {
    const host = this.#hosts.at(peer)
    if (host === undefined) return undefined
    const { ends, streams } = this.#hosts.get(name)
    const side = (host.onDatagram ? streams : ends).get(endKey(host, port, peerPort))?.side
    return side && tcp.copySide(side)
  }

  #talking(): readonly Host[] {
    this.#up ??= new UpHosts(this.#hosts.all())
    return this.#up.talking()
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
    // Looked up once for each message rather than in each comparison, because sixty nodes have hundreds in flight.
    const places = messages.map(message => {
      return { message, to: this.#hosts.get(message.to).order, from: this.#hosts.get(message.from).order }
    })
    places.sort((a, b) => a.to - b.to || a.from - b.from || a.message.ordinal - b.message.ordinal)
    return places.map(({ message }) => message)
  }
}

const silent: Link = { read: () => 0, write: () => undefined, close: () => undefined }
