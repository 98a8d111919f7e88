/**
 * The message plane: the network of a system under check. Every node's kernel speaks to the router alone, through its
 * link; what nodes send each other is held here as messages until a choice delivers them.
 *
 * All of it is synchronous. `pump` moves packets until there are none; then `endStep` turns what was carried since the
 * last step into messages.
 */
import { formatAddress, isForMany } from './address.ts'
import {
  type Carried,
  type Connection,
  createConnection,
  describeConnection,
  type End,
  isForgotten,
  isOpen,
  type OpenConnection,
  otherEnd,
  type Pending,
  takeCarried,
} from './connection.ts'
import type { Dissector } from './dissector.ts'
import { endKey, type Host, Hosts } from './hosts.ts'
import { isEphemeral, messageLabel } from './label.ts'
import type { Link } from './link.ts'
import type { Message } from './message.ts'
import {
  type Datagram,
  decode,
  encodeDatagram,
  encodePortUnreachable,
  encodeSegment,
  flag,
  packetLengthMax,
  type Segment,
} from './packet.ts'
import * as tcp from './tcp.ts'
import { type ReceivedDatagram, type VirtualHost, VirtualSocket } from './virtual-host.ts'

/** One way between two hosts. */
export type Way = readonly [from: string, to: string]

/** Packets that nobody gets. */
export interface Ignored {
  /** TCP connections asked of an address that is no node's: refused. */
  unknownConnections: number
  /** Datagrams to an address that is no host's: answered with "port unreachable". */
  unknownDatagrams: number
  /** Broadcast and multicast. */
  forMany: number
  /** Neither TCP nor UDP, fragments, or from an address that is not the host's. */
  other: number
}

export interface NetworkOptions {
  /** The dissector for the service on this port, if there is one. */
  readonly dissector?: (port: number) => Dissector | undefined
}

/** A datagram in flight, with the ports of its header. */
interface DatagramMessage extends Message {
  readonly sourcePort: number
  readonly destinationPort: number
}

/** What the router shows as source port; out of the way of the ports that services listen on. */
const shownPorts = { first: 49_152, count: 16_384 }
/** A pump takes no more from one host, so that its caller notices a flood. */
const packetsPerPumpMax = 4096
const noBytes = Buffer.alloc(0)

export class Network {
  readonly #dissector: (port: number) => Dissector | undefined
  readonly #hosts = new Hosts()
  #connections: Connection[] = []
  /** Whose queue a TCP message is in. */
  readonly #senders = new WeakMap<Message, End>()
  #datagrams: DatagramMessage[] = []
  /** By way: how many messages there were, and how many connections. */
  readonly #messageCounts = new Map<string, number>()
  readonly #connectionCounts = new Map<string, number>()
  readonly #cuts = new Set<string>()
  readonly #anomalies: tcp.Anomalies = { gaps: 0, retransmissions: 0, resent: 0, corrupt: 0 }
  readonly #ignored: Ignored = { unknownConnections: 0, unknownDatagrams: 0, forMany: 0, other: 0 }
  readonly #incoming = Buffer.alloc(packetLengthMax)
  readonly #outgoing = Buffer.alloc(packetLengthMax)

  constructor({ dissector = () => undefined }: NetworkOptions = {}) {
    this.#dissector = dissector
  }

  // Hosts

  /**
   * Puts a node on the network, or one that is down back on it with a fresh kernel behind `link`. The network owns the
   * link from now on.
   *
   * @throws Error if the node is up, or its name or address is another's
   */
  attach(name: string, address: string, link: Link): void {
    const host = this.#hosts.find(name) ?? this.#addHost(name, address)
    if (host.link !== undefined || host.onDatagram) throw new Error(`host ${name} is attached already`)
    if (formatAddress(host.address) !== address)
      throw new Error(`host ${name} was attached at ${formatAddress(host.address)}, it cannot be at ${address} now`)
    host.link = link
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
    const host = this.#hosts.getUp(name)
    host.link.close()
    ;(host as Host).link = undefined
    const ends = [...host.ends.values()]
    host.ends.clear()
    for (const end of ends) {
      if (end instanceof VirtualSocket) end.lost()
      else this.#lose(end, peersSee)
    }
  }

  /** Whether the node is attached. */
  isUp(name: string): boolean {
    return this.#hosts.get(name).link !== undefined
  }

  /** Adds a host without a process. */
  virtualHost(name: string, address: string): VirtualHost {
    let listener: (datagram: ReceivedDatagram) => void = () => {}
    const virtual = this.#addHost(name, address, datagram => listener(datagram))
    return {
      name,
      address,
      connect: (host, port) => this.#connect(virtual, this.#hosts.getUp(host), port),
      sendUdp: (host, port, bytes, sourcePort = shownPorts.first) =>
        this.#sendDatagram(virtual, this.#hosts.getUp(host), { sourcePort, destinationPort: port, bytes }),
      onDatagram: newListener => {
        listener = newListener
      },
    }
  }

  // Steps

  /** Handles the packets that all nodes, or one, sent until now. Gives false if there was none. */
  pump(name?: string): boolean {
    if (name !== undefined) return this.#drain(this.#hosts.get(name))
    let any = false
    for (const host of this.#hosts.all()) {
      if (this.#drain(host)) any = true
    }
    return any
  }

  /** Ends a step, pumped until there was nothing more: what each direction of each connection carried becomes messages. */
  endStep(): void {
    for (const { ends } of this.#connections) {
      for (const end of ends) {
        this.#recover(end)
        for (const pending of takeCarried(end)) this.#hold(end, pending)
      }
    }
    this.#connections = this.#connections.filter(connection => !isForgotten(connection))
  }

  // Messages

  /** The messages that may be delivered now, by receiver and sender (in the order they were attached) and ordinal. */
  deliverable(): readonly Message[] {
    const heads = this.#connections.flatMap(({ ends }) => ends.flatMap(({ queue }) => queue[0] ?? []))
    return this.#sorted([...this.#datagrams, ...heads].filter(message => this.#isPassable(message)))
  }

  /** All messages that are held, in the same order. */
  inFlight(): readonly Message[] {
    const queued = this.#connections.flatMap(({ ends }) => ends.flatMap(({ queue }) => queue))
    return this.#sorted([...this.#datagrams, ...queued])
  }

  /**
   * Puts a message of `deliverable()` into its receiver's kernel. Nothing is pumped: several messages can enter a node
   * before it runs. Data that the receiver has no room for follows while it is pumped, also in later steps.
   */
  deliver(message: Message): void {
    if (!this.#isPassable(message))
      throw new Error(`cannot deliver ${message.label}: the way is cut or the host is down`)
    if (message.kind === 'datagram') {
      const datagram = this.#takeDatagram('deliver', message)
      this.#sendDatagram(this.#hosts.get(datagram.from), this.#hosts.get(datagram.to), datagram)
    } else this.#deliverHead(message)
  }

  /** Loses a datagram. */
  drop(message: Message): void {
    this.#takeDatagram('drop', message)
  }

  /** Puts a copy of a datagram in flight, and gives it: a message of its own. */
  duplicate(message: Message): Message {
    return this.#holdDatagram(this.#datagrams[this.#indexOfDatagram('duplicate', message)]!)
  }

  // Faults of the network

  /** The open connections between nodes, in the order they were opened. */
  connections(): readonly OpenConnection[] {
    return this.#connections.filter(isOpen).map(describeConnection)
  }

  /** Resets a connection: both ends learn it at once, and what is in flight on it is gone. */
  resetConnection({ opener, listener, number, label }: OpenConnection): void {
    const connection = this.#connections.find(
      each => each.opener.host === opener && each.listener.host === listener && each.number === number,
    )
    if (connection === undefined || !isOpen(connection)) throw new Error(`cannot reset ${label}: it is not open`)
    for (const end of connection.ends) {
      tcp.abort(end.side!, this.#hosts.get(end.host))
      this.#forget(end)
      this.#mute(end)
    }
  }

  /** Cuts ways, besides those that are cut already: TCP is held, UDP is lost, also what is in flight. */
  cut(ways: readonly Way[]): void {
    for (const [from, to] of ways) this.#cuts.add(wayKey(this.#hosts.get(from).name, this.#hosts.get(to).name))
    this.#datagrams = this.#datagrams.filter(({ from, to }) => !this.#cuts.has(wayKey(from, to)))
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

  #addHost(name: string, address: string, onDatagram?: Host['onDatagram']): Host {
    const host: Host = this.#hosts.add(name, address, {
      link: undefined,
      onDatagram,
      anomalies: this.#anomalies,
      send: segment => host.link?.write(this.#outgoing, encodeSegment(this.#outgoing, segment)),
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
    else if (isForMany(packet.destination)) this.#ignored.forMany += 1
    else if (packet.kind === 'other' || packet.source !== from.address) this.#ignored.other += 1
    else if (packet.kind === 'udp') this.#routeDatagram(from, packet)
    else this.#routeSegment(from, packet)
  }

  #routeDatagram(from: Host, datagram: Datagram): void {
    const { sourcePort, destinationPort } = datagram
    const to = this.#hosts.at(datagram.destination)
    if (to === undefined) {
      this.#ignored.unknownDatagrams += 1
      from.link!.write(this.#outgoing, encodePortUnreachable(this.#outgoing, datagram))
      return
    }
    const bytes = Buffer.from(datagram.payload)
    if (to.onDatagram) to.onDatagram({ from: from.name, sourcePort, port: destinationPort, payload: bytes })
    else if (!this.#cuts.has(wayKey(from.name, to.name)))
      this.#holdDatagram({ from: from.name, to: to.name, sourcePort, destinationPort, bytes })
  }

  #routeSegment(from: Host, segment: Segment): void {
    const to = this.#hosts.at(segment.destination)
    const end = to && this.#addressee(from, to, segment)
    if (end !== undefined) {
      this.#arrive(end, tcp.receive(end.side!, segment, from))
      if (end.side?.state === 'over') from.ends.delete(endKey(to!, segment.sourcePort, segment.destinationPort))
    } else if (isAsking(segment) && to !== undefined && !to.onDatagram) this.#open(from, to, segment)
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

  #open(from: Host, to: Host, syn: Segment): void {
    const number = next(this.#connectionCounts, wayKey(from.name, to.name))
    const port = syn.destinationPort
    const shownPort = freePort(from, to, port, number)
    const names = { opener: from.name, listener: to.name, number, port, shownPort }
    const connection = createConnection(names, this.#dissector(port))
    this.#connections.push(connection)
    connection.opener.side = tcp.meet(syn, number)
    from.ends.set(endKey(to, syn.sourcePort, port), connection.opener)
    this.#hold(connection.opener, { kind: 'open', bytes: noBytes })
  }

  #arrive(end: End | VirtualSocket, arrival: tcp.Arrival): void {
    if (end instanceof VirtualSocket) end.arrived(arrival)
    else this.#arriveAtEnd(end, arrival)
  }

  #arriveAtEnd(end: End, arrival: tcp.Arrival): void {
    this.#release(otherEnd(end), arrival.entered)
    if (arrival.answer) this.#carry(end, arrival.answer)
    if (arrival.data) this.#carry(end, Buffer.from(arrival.data))
    if (arrival.end === 'close') this.#carry(end, 'close')
    if (arrival.end === 'abort') this.#abort(end)
    if (end.side?.state === 'over') this.#forget(end)
  }

  #carry(end: End, item: Carried): void {
    if (!end.isMuted) end.carried.push(item)
    else if (typeof item !== 'string') this.#release(end, item.length)
  }

  /** The end's kernel has reset the connection: what is on the way to it will find nobody. */
  #abort(end: End): void {
    this.#carry(end, 'abort')
    this.#mute(otherEnd(end))
  }

  #mute(end: End): void {
    end.isMuted = true
    end.queue = []
    end.carried = []
    if (end.side) this.#release(end, end.side.held)
  }

  /** The end's kernel has nothing of the connection any more. */
  #forget(end: End): void {
    const { side } = end
    if (side === undefined) return
    const host = this.#hosts.get(end.host)
    host.ends.delete(endKey(this.#hosts.get(otherEnd(end).host), side.nodePort, side.peerPort))
    end.side = undefined
  }

  /** The end's host went down. */
  #lose(end: End, peersSee: 'reset' | 'nothing'): void {
    const side = end.side!
    end.side = undefined
    this.#release(otherEnd(end), tcp.waiting(side))
    // Unanswered, the peer's kernel goes on asking.
    if (side.state === 'asking') this.#hold(otherEnd(end), { kind: 'open', bytes: noBytes })
    else if (peersSee === 'reset' && side.state !== 'asked') this.#abort(end)
    else this.#carry(end, 'lost')
  }

  /** Bytes that the end's node sent have entered the other node. */
  #release(end: End, bytes: number): void {
    if (end.side && bytes > 0) tcp.release(end.side, bytes, this.#hosts.get(end.host))
  }

  /** At the end of a step every kernel has answered; one that has not dropped something. */
  #recover(end: End): void {
    if (end.side === undefined) return
    if (end.side.state === 'asking') {
      // A full backlog: the opener's kernel would ask again.
      this.#forget(end)
      this.#hold(otherEnd(end), { kind: 'open', bytes: noBytes })
    } else tcp.resendLost(end.side, this.#hosts.get(end.host))
  }

  // What goes to the nodes

  #deliverHead(message: Message): void {
    const sender = this.#senders.get(message)
    if (sender?.queue[0] !== message)
      throw new Error(`cannot deliver ${message.label}: it is not the first that its connection holds`)
    sender.queue.shift()
    const receiver = otherEnd(sender)
    const host = this.#hosts.get(receiver.host)
    if (message.kind === 'open') this.#ask(receiver, host)
    else if (receiver.side !== undefined) this.#enter(sender, receiver, receiver.side, host, message)
    // A restarted host knows nothing of the connection, and says so.
    else if (message.kind !== 'abort' && message.kind !== 'refuse') this.#abort(receiver)
  }

  #ask(listener: End, host: Host): void {
    const { port, shownPort, number, opener } = listener.connection
    const peer = this.#hosts.get(opener.host)
    host.ends.set(endKey(peer, port, shownPort), listener)
    const ports = { node: host.address, nodePort: port, peer: peer.address, peerPort: shownPort }
    listener.side = tcp.ask(ports, number, host)
  }

  #enter(sender: End, receiver: End, side: tcp.Side, host: Host, { kind, bytes }: Message): void {
    if (kind === 'data') this.#release(sender, tcp.send(side, bytes, host))
    if (kind === 'accept') tcp.accept(side, host)
    if (kind === 'refuse') tcp.refuse(side, host)
    if (kind === 'close') tcp.finish(side, host)
    if (kind === 'abort') tcp.abort(side, host)
    if (side.state === 'over') this.#forget(receiver)
  }

  #connect(virtual: Host, host: Host, port: number): VirtualSocket {
    const number = next(this.#connectionCounts, wayKey(virtual.name, host.name))
    const shownPort = freePort(virtual, host, port, number)
    const ports = { node: host.address, nodePort: port, peer: virtual.address, peerPort: shownPort }
    const socket = new VirtualSocket(tcp.ask(ports, number, host), host)
    host.ends.set(endKey(virtual, port, shownPort), socket)
    return socket
  }

  #sendDatagram(
    from: Host,
    to: Host,
    datagram: Pick<DatagramMessage, 'sourcePort' | 'destinationPort' | 'bytes'>,
  ): void {
    const { sourcePort, destinationPort, bytes: payload } = datagram
    const addresses = { source: from.address, destination: to.address }
    const packet = { kind: 'udp', ...addresses, sourcePort, destinationPort, payload } as const
    to.link!.write(this.#outgoing, encodeDatagram(this.#outgoing, packet))
  }

  // What is held

  #hold(end: End, { kind, bytes, meaning }: Pending): void {
    const { number: connection, port } = end.connection
    const way = { from: end.host, to: otherEnd(end).host }
    const message = { ...this.#name(way), transport: 'tcp' as const, kind, port, connection, bytes }
    const held = { ...message, label: messageLabel(message, meaning) }
    end.queue.push(held)
    this.#senders.set(held, end)
  }

  #holdDatagram({
    from,
    to,
    sourcePort,
    destinationPort,
    bytes,
  }: Pick<DatagramMessage, 'from' | 'to' | 'sourcePort' | 'destinationPort' | 'bytes'>): Message {
    const port = [destinationPort, sourcePort].find(each => !isEphemeral(each)) ?? 0
    const kinds = { transport: 'udp', kind: 'datagram', connection: 0 } as const
    const message = { ...this.#name({ from, to }), ...kinds, port, sourcePort, destinationPort, bytes }
    const held = { ...message, label: messageLabel(message, this.#dissector(port)?.datagram(bytes)) }
    this.#datagrams.push(held)
    return held
  }

  #name({ from, to }: { from: string; to: string }): Pick<Message, 'from' | 'to' | 'ordinal'> {
    return { ordinal: next(this.#messageCounts, wayKey(from, to)), from, to }
  }

  #takeDatagram(operation: string, message: Message): DatagramMessage {
    return this.#datagrams.splice(this.#indexOfDatagram(operation, message), 1)[0]!
  }

  #indexOfDatagram(operation: string, message: Message): number {
    const index = this.#datagrams.indexOf(message as DatagramMessage)
    if (index === -1) throw new Error(`cannot ${operation} ${message.label}: no such datagram is in flight`)
    return index
  }

  #isPassable({ from, to }: Message): boolean {
    return this.#hosts.get(to).link !== undefined && !this.#cuts.has(wayKey(from, to))
  }

  #sorted(messages: Message[]): Message[] {
    const order = (name: string) => this.#hosts.get(name).order
    return messages.sort((a, b) => order(a.to) - order(b.to) || order(a.from) - order(b.from) || a.ordinal - b.ordinal)
  }
}

const isAsking = ({ flags }: Segment): boolean => (flags & (flag.SYN | flag.ACK)) === flag.SYN

const wayKey = (from: string, to: string): string => `${from}→${to}`

const next = (counts: Map<string, number>, key: string): number => {
  const count = (counts.get(key) ?? 0) + 1
  counts.set(key, count)
  return count
}

/** The source port that the listener sees: by the connection's number, so that it is the same in every execution. */
const freePort = (opener: Host, listener: Host, port: number, number: number): number => {
  for (let tried = 0; tried < shownPorts.count; tried++) {
    const shown = shownPorts.first + ((number - 1 + tried) % shownPorts.count)
    if (!listener.ends.has(endKey(opener, port, shown))) return shown
  }
  throw new Error(
    `${opener.name} has ${shownPorts.count} connections to ${listener.name}:${port}; there can be no more`,
  )
}
