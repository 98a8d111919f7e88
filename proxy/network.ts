/**
 * The message plane: the network of a system under check. Every node's kernel speaks to the router alone, through its
 * link; what nodes send each other is held here as messages until a choice delivers them.
 *
 * All of it is synchronous. `pump` moves packets until there are none; then `endStep` turns what was carried since the
 * last step into messages.
 */
import { formatAddress, isForMany, isMulticast } from './address.ts'
import { describeConnection, type End, type OpenConnection, otherEnd } from './connection.ts'
import { Connections, type ConnectionsMark } from './connections.ts'
import { type DatagramMessage, Datagrams, type HeaderAndPayload } from './datagrams.ts'
import type { Dissector } from './dissector.ts'
import { endKey, freePort, type Host, Hosts, shownPorts } from './hosts.ts'
import type { Link } from './link.ts'
import type { Message } from './message.ts'
import { Outbox, type Outgoing } from './outbox.ts'
import {
  type Datagram,
  decode,
  encodeDatagram,
  encodePortUnreachable,
  encodeSegment,
  flag,
  type OtherPacket,
  packetLengthMax,
  type Segment,
  type Unreachable,
} from './packet.ts'
import * as tcp from './tcp.ts'
import { type ReceivedDatagram, type Stream, type VirtualHost, VirtualSocket } from './virtual-host.ts'
import { type Way, WayCounts, type WayCountsMark, wayKey } from './way.ts'

export type { OpenConnection, Way }

/** Packets that nobody gets. */
export interface Ignored {
  /** TCP connections asked of an address that is no node's: refused. */
  unknownConnections: number
  /** Datagrams to an address that is no host's: answered with "port unreachable". */
  unknownDatagrams: number
  /** Broadcast and multicast; no node is asked which of them it wants to hear. */
  forMany: number
  /** Neither TCP nor UDP, fragments, or from an address that is not the host's. */
  other: number
}

/** What hosts sent that is not carried as it is meant: each at most once. */
export interface NotCarried {
  readonly from: string
  /** `urgent`: what was sent with MSG_OOB, which arrives as any other byte. */
  readonly what: 'broadcast' | 'multicast' | 'urgent'
}

export interface NetworkOptions {
  /** The dissector for the service on this port, if there is one. */
  readonly dissector?: (port: number) => Dissector | undefined
}

/** A connection of a virtual host. */
interface StreamMark {
  readonly node: string
  /** Address of the virtual host. */
  readonly peer: number
  readonly side: tcp.Side
  readonly isDestroyed: boolean
}

/** What a node has of a connection to which nothing gets through: its kernel gives it up after a time. */
export interface Unanswered {
  readonly node: string
  /** Names it and its kind in its execution. */
  readonly label: string
  /**
   * `asks`: the connection is not answered yet. `waits`: something that the node sent has not arrived. `idle`: nothing is
   * on its way. `denied`: nothing is, and the peer's kernel would say that it has no such connection.
   */
  readonly kind: 'asks' | 'waits' | 'idle' | 'denied'
  /** As the node's kernel knows it. */
  readonly port: number
  readonly peer: number
  readonly peerPort: number
  /** Lets the peer's kernel say so: a message that is held. */
  deny(): void
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

/** A pump takes no more from one host, so that its caller notices a flood. */
const packetsPerPumpMax = 4096

export class Network {
  readonly #hosts = new Hosts()
  readonly #connections: Connections
  readonly #datagrams: Datagrams
  readonly #ordinals: WayCounts
  readonly #virtualNumbers: WayCounts
  readonly #listeners = new Map<string, (datagram: ReceivedDatagram) => void>()
  readonly #cuts: Set<string>
  readonly #anomalies: tcp.Anomalies
  readonly #ignored: Ignored
  readonly #notCarried = new Map<string, NotCarried>()
  readonly #incoming = Buffer.alloc(packetLengthMax)
  readonly #outgoing = Buffer.alloc(packetLengthMax)

  /** @param mark of a network that goes on as this one, once its nodes are attached */
  constructor({ dissector = () => undefined }: NetworkOptions = {}, mark?: NetworkMark) {
    this.#anomalies = { gaps: 0, retransmissions: 0, resent: 0, corrupt: 0, ...mark?.anomalies }
    this.#ignored = { unknownConnections: 0, unknownDatagrams: 0, forMany: 0, other: 0, ...mark?.ignored }
    this.#cuts = new Set(mark?.cuts)
    this.#ordinals = new WayCounts(mark?.ordinals)
    this.#virtualNumbers = new WayCounts(mark?.virtualNumbers)
    for (const host of mark?.hosts ?? []) this.#addHost(host.name, host.address, host.isVirtual)
    this.#connections = new Connections(this.#hosts, this.#ordinals, dissector, mark?.connections)
    this.#datagrams = new Datagrams(this.#ordinals, dissector, mark?.datagrams)
    for (const stream of mark?.streams ?? []) this.#resumeStream(stream)
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
      streams: hosts.flatMap(({ name, ends }) =>
        [...ends.values()].flatMap(end => (end instanceof VirtualSocket ? [markStream(name, end)] : [])),
      ),
      ordinals: this.#ordinals.mark(),
      virtualNumbers: this.#virtualNumbers.mark(),
      cuts: [...this.#cuts],
      anomalies: { ...this.#anomalies },
      ignored: { ...this.#ignored },
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

  /**
   * The node is gone with its kernel, and its link is closed. What it sent stays in flight; what is sent to it waits
   * until it is attached again.
   *
   * @param peersSee `reset`: every open connection's peer gets a held `abort`. `nothing`: a peer learns it only when
   * something that it sent on the connection reaches the restarted node, whose kernel answers with a held `abort`.
   * Virtual hosts see a reset at once in both cases.
   */
  detach(name: string, peersSee: 'reset' | 'nothing'): void {
    this.release(name, peersSee).close()
  }

  /** The same, but the link stays open, and is the caller's again. */
  release(name: string, peersSee: 'reset' | 'nothing'): Link {
    const host = this.#hosts.getUp(name)
    const { link } = host
    ;(host as Host).link = undefined
    host.outbox.clear()
    const ends = [...host.ends.values()]
    host.ends.clear()
    for (const end of ends) {
      if (end instanceof VirtualSocket) end.lost()
      else this.#connections.lose(end, peersSee)
    }
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
    const virtual = isKnown ? known : this.#addHost(name, address, true)
    return {
      name,
      address,
      connect: (host, port) => this.#connect(virtual, this.#hosts.getUp(host), port),
      streams: () => this.#streamsOf(virtual),
      sendUdp: (host, port, bytes, sourcePort = shownPorts.first) =>
        this.#sendDatagram(virtual, this.#hosts.getUp(host), { sourcePort, destinationPort: port, bytes }),
      onDatagram: listener => this.#listeners.set(name, listener),
    }
  }

  // Steps

  /** Handles the packets that all nodes, or these, sent until now. Gives false if there was none. */
  pump(names?: readonly string[]): boolean {
    let any = false
    for (const host of this.#those(names)) {
      if (this.#drain(host)) any = true
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
      for (const { side } of host.ends.values()) if (side && host.link) tcp.offerAgain(side, host)
  }

  // Messages

  /** The messages that may be delivered now, by receiver and sender (in the order they were attached) and ordinal. */
  deliverable(): readonly Message[] {
    const candidates = [...this.#datagrams.held, ...this.#connections.heads()]
    return this.#sorted(candidates.filter(message => this.#isPassable(message)))
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
    if (datagram.kind === 'unreachable') this.#sendUnreachable(from, to, datagram)
    else this.#sendDatagram(from, to, datagram)
  }

  /** Loses a datagram. */
  drop(message: Message): void {
    this.#datagrams.take(message, 'drop')
  }

  /** Puts a copy of a datagram in flight, and gives it: a message of its own. */
  duplicate(message: Message): Message {
    return this.#datagrams.duplicate(message)
  }

  /** The ways that are cut, as `n1→n2`, in the order of their names. */
  cuts(): readonly string[] {
    return [...this.#cuts].sort()
  }

  /**
   * What is known of every connection but the messages that are held of it: who is in the middle of opening or closing it,
   * what does not fit into a window, who waits to be accepted. Equal for states that go on alike.
   */
  connectionStates(): readonly string[] {
    return [...this.#connections.shown(), ...this.#streamStates()]
  }

  /**
   * What nodes that are up have of connections to which nothing gets through. To be asked between two steps; it is empty
   * in most executions.
   */
  unanswered(): Unanswered[] {
    return this.#connections.unanswered(way => this.#cuts.has(wayKey(way))).map(end => this.#describeUnanswered(end))
  }

  #describeUnanswered(end: End): Unanswered {
    const { nodePort, peer, peerPort, state } = end.side!
    const other = otherEnd(end)
    const isReached =
      this.isUp(other.host) &&
      !this.#cuts.has(wayKey([end.host, other.host])) &&
      !this.#cuts.has(wayKey([other.host, end.host]))
    const kind = state === 'asked' ? 'asks' : isReached ? 'denied' : end.queue.length > 0 ? 'waits' : 'idle'
    const { label } = describeConnection(end.connection)
    return {
      node: end.host,
      label: `${label} ${end === end.connection.opener ? 'opener' : 'listener'} ${kind}`,
      kind,
      port: nodePort,
      peer,
      peerPort,
      deny: () => this.#connections.deny(end),
    }
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
      this.#cuts.add(wayKey(way))
    }
    this.#datagrams.lose(this.#cuts)
  }

  /** Ends every cut. */
  heal(): void {
    this.#cuts.clear()
  }

  /** What a faithful network would not have done: an execution in which any is not 0 says nothing. */
  anomalies(): Readonly<tcp.Anomalies> {
    return { ...this.#anomalies }
  }

  ignored(): Readonly<Ignored> {
    return { ...this.#ignored }
  }

  notCarried(): readonly NotCarried[] {
    return [...this.#notCarried.values()]
  }

  /** What faces a connection of a node's kernel, as it is now; undefined where nothing does. */
  facing(name: string, port: number, peer: number, peerPort: number): tcp.Side | undefined {
    const host = this.#hosts.at(peer)
    const end = host && this.#hosts.get(name).ends.get(endKey(host, port, peerPort))
    return end?.side && tcp.copySide(end.side)
  }

  #those(names: readonly string[] | undefined): Iterable<Host> {
    return names === undefined ? this.#hosts.all() : names.map(name => this.#hosts.get(name))
  }

  #addHost(name: string, address: string, isVirtual: boolean): Host {
    const host: Host = this.#hosts.add(name, address, {
      link: undefined,
      outbox: new Outbox(),
      onDatagram: isVirtual ? datagram => this.#listeners.get(name)?.(datagram) : undefined,
      anomalies: this.#anomalies,
      send: segment => this.#sendSegment(host, segment),
    })
    return host
  }

  // What comes from the nodes

  #drain(host: Host): boolean {
    let packets = 0
    while (packets < packetsPerPumpMax && host.link !== undefined) {
      const length = host.link.read(this.#incoming)
      if (length === 0) break
      packets += 1
      this.#route(host, length)
    }
    return packets > 0
  }

  #route(from: Host, length: number): void {
    const packet = decode(this.#incoming, length)
    if (packet.kind === 'corrupt') this.#anomalies.corrupt += 1
    else if (isForMany(packet.destination)) this.#ignoreForMany(from, packet)
    else if (packet.kind === 'other' || packet.source !== from.address) this.#ignored.other += 1
    else if (packet.kind === 'unreachable') this.#routeUnreachable(from, packet)
    else if (packet.kind === 'udp') this.#routeDatagram(from, packet)
    else this.#routeSegment(from, packet)
  }

  /** A kernel tells by IGMP what its programs want to hear, at random instants: that is no datagram of theirs. */
  #ignoreForMany({ name }: Host, { kind, destination }: Datagram | Segment | Unreachable | OtherPacket): void {
    this.#ignored.forMany += 1
    if (kind === 'udp') this.#note({ from: name, what: isMulticast(destination) ? 'multicast' : 'broadcast' })
  }

  #note(what: NotCarried): void {
    this.#notCarried.set(`${what.what} ${what.from}`, what)
  }

  #routeDatagram(from: Host, datagram: Datagram): void {
    const { sourcePort, destinationPort } = datagram
    const to = this.#hosts.at(datagram.destination)
    if (to === undefined) {
      this.#ignored.unknownDatagrams += 1
      const answered = { ...datagram, payload: Buffer.from(datagram.payload) }
      this.#write(from, into => encodePortUnreachable(into, answered))
      return
    }
    const bytes = Buffer.from(datagram.payload)
    if (to.onDatagram) to.onDatagram({ from: from.name, sourcePort, port: destinationPort, payload: bytes })
    else if (!this.#cuts.has(wayKey([from.name, to.name])))
      this.#datagrams.hold({ kind: 'datagram', from: from.name, to: to.name, sourcePort, destinationPort, bytes })
  }

  /** A kernel that has nobody for a datagram says so to whoever sent it. */
  #routeUnreachable(from: Host, { destination, sourcePort, destinationPort }: Unreachable): void {
    const to = this.#hosts.at(destination)
    if (to === undefined || to.onDatagram) this.#ignored.other += 1
    else if (!this.#cuts.has(wayKey([from.name, to.name])))
      this.#datagrams.hold({
        kind: 'unreachable',
        from: from.name,
        to: to.name,
        sourcePort,
        destinationPort,
        bytes: noBytes,
      })
  }

  #routeSegment(from: Host, segment: Segment): void {
    if (segment.flags & flag.URG) this.#note({ from: from.name, what: 'urgent' })
    const to = this.#hosts.at(segment.destination)
    const end = to && this.#addressee(from, to, segment)
    if (end !== undefined) {
      this.#arrive(end, tcp.receive(end.side!, segment, from))
      if (end.side?.state === 'over') from.ends.delete(endKey(to!, segment.sourcePort, segment.destinationPort))
    } else if (isAsking(segment) && to !== undefined && !to.onDatagram) this.#connections.open(from, to, segment)
    else {
      if (isAsking(segment)) this.#ignored.unknownConnections += 1
      tcp.reject(segment, from)
    }
  }

  /** The end that the segment belongs to. */
  #addressee(from: Host, to: Host, segment: Segment): End | VirtualSocket | undefined {
    const key = endKey(to, segment.sourcePort, segment.destinationPort)
    const end = from.ends.get(key)
    if (end?.side === undefined) return undefined
    const isReused = isAsking(segment) && tcp.isAnother(end.side, segment)
    if (end.side.state !== 'over' && !isReused) return end
    // The node's kernel forgot the connection, and uses its port for a new one.
    if (isReused) this.#arrive(end, tcp.forgotten(end.side))
    from.ends.delete(key)
    return undefined
  }

  #arrive(end: End | VirtualSocket, arrival: tcp.Arrival): void {
    if (end instanceof VirtualSocket) end.arrived(arrival)
    else this.#connections.arrive(end, arrival)
  }

  // What goes to the nodes

  #connect(virtual: Host, host: Host, port: number): VirtualSocket {
    const number = this.#virtualNumbers.next([virtual.name, host.name])
    const shownPort = freePort(virtual, host, port, number)
    const ports = { node: host.address, nodePort: port, peer: virtual.address, peerPort: shownPort }
    return this.#addStream(virtual.name, host.name, tcp.ask(ports, number, host))
  }

  #addStream(virtual: string, node: string, side: tcp.Side): VirtualSocket {
    const host = this.#hosts.get(node)
    const socket = new VirtualSocket(side, host)
    host.ends.set(endKey(this.#hosts.get(virtual), side.nodePort, side.peerPort), socket)
    return socket
  }

  #resumeStream({ node, peer, side, isDestroyed }: StreamMark): void {
    const socket = this.#addStream(this.#hosts.at(peer)!.name, node, tcp.copySide(side))
    if (isDestroyed) socket.destroy()
  }

  /** Connections of clients and observers, which may be kept for their next request. */
  #streamStates(): string[] {
    const states: string[] = []
    for (const { name, ends } of this.#hosts.all()) {
      for (const end of ends.values())
        if (end instanceof VirtualSocket) states.push(`client→${name} :${end.side.nodePort} ${tcp.shown(end.side)}`)
    }
    return states
  }

  #streamsOf({ address }: Host): Stream[] {
    return [...this.#hosts.all()].flatMap(({ name, ends }) =>
      [...ends.values()].flatMap(socket =>
        socket instanceof VirtualSocket && socket.side.peer === address ? [{ host: name, socket }] : [],
      ),
    )
  }

  #sendDatagram(
    from: Host,
    to: Host,
    datagram: Pick<DatagramMessage, 'sourcePort' | 'destinationPort' | 'bytes'>,
  ): void {
    const { sourcePort, destinationPort, bytes: payload } = datagram
    const addresses = { source: from.address, destination: to.address }
    const packet = { kind: 'udp', ...addresses, sourcePort, destinationPort, payload } as const
    this.#write(to, into => encodeDatagram(into, packet))
  }

  /** Quotes the datagram of `to` that it answers, without what was in it. */
  #sendUnreachable(from: Host, to: Host, { sourcePort, destinationPort }: DatagramMessage): void {
    const answered = { source: to.address, destination: from.address, sourcePort, destinationPort, payload: noBytes }
    this.#write(to, into => encodePortUnreachable(into, answered))
  }

  #sendSegment(to: Host, segment: Segment): void {
    const { source, sourcePort, destinationPort, flags, payload } = segment
    const peer = this.#hosts.at(source)
    this.#write(to, into => encodeSegment(into, segment), {
      isAcknowledgement: flags === flag.ACK && payload.length === 0,
      ...(peer && { connection: endKey(peer, destinationPort, sourcePort) }),
    })
  }

  #write(
    to: Host,
    encode: (into: Buffer) => number,
    about: Pick<Outgoing, 'connection' | 'isAcknowledgement'> = {},
  ): void {
    to.outbox.send({ ...about, write: () => to.link?.write(this.#outgoing, encode(this.#outgoing)) })
  }

  #isPassable({ from, to }: Message): boolean {
    return this.#hosts.get(to).link !== undefined && !this.#cuts.has(wayKey([from, to]))
  }

  #sorted(messages: Message[]): Message[] {
    const order = (name: string) => this.#hosts.get(name).order
    return messages.sort((a, b) => order(a.to) - order(b.to) || order(a.from) - order(b.from) || a.ordinal - b.ordinal)
  }
}

const noBytes = Buffer.alloc(0)

const isAsking = ({ flags }: Segment): boolean => (flags & (flag.SYN | flag.ACK)) === flag.SYN

const markStream = (node: string, { side, destroyed }: VirtualSocket): StreamMark => ({
  node,
  peer: side.peer,
  side: tcp.copySide(side),
  isDestroyed: destroyed,
})
