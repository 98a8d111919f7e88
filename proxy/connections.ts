import {
  type Carried,
  type Connection,
  type ConnectionMark,
  connectionFrom,
  createConnection,
  describeConnection,
  type End,
  isForgotten,
  isOpen,
  isUnanswered,
  markConnection,
  mayWait,
  type OpenConnection,
  otherEnd,
  type Pending,
  showConnection,
  takeCarried,
} from './connection.ts'
import type { Dissector } from './dissector.ts'
import { endKey, freePort, type Host, type Hosts } from './hosts.ts'
import { messageLabel } from './label.ts'
import type { Message } from './message.ts'
import type { Segment } from './packet.ts'
import * as tcp from './tcp.ts'
import { type Way, WayCounts, type WayCountsMark } from './way.ts'

const noBytes = Buffer.alloc(0)

export interface ConnectionsMark {
  readonly numbers: WayCountsMark
  readonly all: readonly ConnectionMark[]
}

/** The TCP between nodes: each connection's two ends, and what is held between them. */
export class Connections {
  readonly #hosts: Hosts
  readonly #ordinals: WayCounts
  readonly #numbers: WayCounts
  readonly #dissector: (port: number) => Dissector | undefined
  #all: Connection[] = []
  #asked = 0
  /** Whose queue a message is in. */
  readonly #senders = new WeakMap<Message, End>()

  /** @param mark of connections that go on here */
  constructor(
    hosts: Hosts,
    ordinals: WayCounts,
    dissector: (port: number) => Dissector | undefined,
    mark?: ConnectionsMark,
  ) {
    this.#hosts = hosts
    this.#ordinals = ordinals
    this.#dissector = dissector
    this.#numbers = new WayCounts(mark?.numbers)
    for (const each of mark?.all ?? []) this.#put(connectionFrom(each, dissector(each.names.port)))
    this.#asked = Math.max(0, ...this.#all.map(({ listener }) => listener.asked))
  }

  mark(): ConnectionsMark {
    return { numbers: this.#numbers.mark(), all: this.#all.map(markConnection) }
  }

  /** The first message of each direction. */
  heads(): Message[] {
    return this.#all.flatMap(({ ends }) => ends.flatMap(({ queue }) => queue[0] ?? []))
  }

  held(): Message[] {
    return this.#all.flatMap(({ ends }) => ends.flatMap(({ queue }) => queue))
  }

  describeOpen(): OpenConnection[] {
    return this.#all.filter(isOpen).map(describeConnection)
  }

  /** What is known of each, and in which order those were asked for that may wait to be accepted. */
  shown(): string[] {
    const shown = this.#all.map(showConnection)
    const waiting = this.#all.filter(mayWait)
    if (waiting.length < 2) return shown
    const order = waiting.sort((one, other) => one.listener.asked - other.listener.asked)
    return [
      ...shown,
      ...order.map(({ opener, listener, number }) => `${listener.host} accepts ${opener.host} ${number}`),
    ]
  }

  /** A node asks another for a connection. */
  open(from: Host, to: Host, syn: Segment): void {
    const number = this.#numbers.next([from.name, to.name])
    const port = syn.destinationPort
    const shownPort = freePort(from, to, port, number)
    const names = { opener: from.name, listener: to.name, number, port, shownPort }
    const connection = createConnection(names, this.#dissector(port))
    this.#all.push(connection)
    connection.opener.side = tcp.meet(syn, number)
    from.ends.set(endKey(to, syn.sourcePort, port), connection.opener)
    this.#hold(connection.opener, { kind: 'open', bytes: noBytes })
  }

  /** The end's node sent something. */
  arrive(end: End, { entered, answer, data, end: ending }: tcp.Arrival): void {
    this.#release(otherEnd(end), entered)
    if (answer) this.#carry(end, answer)
    if (data || ending) end.hasSpoken = true
    if (data) this.#carry(end, Buffer.from(data))
    if (ending === 'close') this.#carry(end, 'close')
    if (ending === 'abort') this.#abort(end)
    if (end.side?.state === 'over') this.#forget(end)
  }

  /** What was carried in the step becomes messages. */
  endStep(): void {
    for (const { ends } of this.#all) {
      for (const end of ends) {
        this.#recover(end)
        for (const pending of takeCarried(end)) this.#hold(end, pending)
      }
    }
    this.#all = this.#all.filter(connection => !isForgotten(connection))
  }

  deliver(message: Message): void {
    const sender = this.#senders.get(message)
    if (sender?.queue[0] !== message)
      throw new Error(`cannot deliver ${message.label}: it is not the first that its connection holds`)
    sender.queue.shift()
    const receiver = otherEnd(sender)
    if (message.kind === 'open') this.#ask(receiver)
    else if (receiver.side !== undefined) this.#enter(sender, receiver, receiver.side, message)
    // A restarted node knows nothing of the connection, and says so.
    else if (message.kind !== 'abort' && message.kind !== 'refuse') this.#abort(receiver)
  }

  /** Resets an open connection at both ends; what is in flight on it is gone. */
  reset({ opener, listener, number, label }: OpenConnection): void {
    const connection = this.#all.find(
      each => each.opener.host === opener && each.listener.host === listener && each.number === number,
    )
    if (connection === undefined || !isOpen(connection)) throw new Error(`cannot reset ${label}: it is not open`)
    for (const end of connection.ends) {
      tcp.abort(end.side!, this.#hosts.get(end.host))
      this.#forget(end)
      this.#mute(end)
    }
  }

  /** The end's node went down. */
  lose(end: End, peersSee: 'reset' | 'nothing'): void {
    const side = end.side!
    end.side = undefined
    this.#release(otherEnd(end), tcp.waiting(side))
    // Unanswered, the peer's kernel goes on asking.
    if (side.state === 'asking') this.#askAgain(end)
    else if (peersSee === 'reset' && side.state !== 'asked') this.#abort(end)
    else this.#carry(end, 'lost')
  }

  /** The ends, of nodes that are up, to which nothing gets through and from which nothing is on its way to them. */
  unanswered(isCut: (way: Way) => boolean): End[] {
    const isUp = (host: string) => this.#hosts.get(host).link !== undefined
    return this.#all.flatMap(({ ends }) => ends.filter(end => isUp(end.host) && isUnanswered(end, isCut, isUp)))
  }

  /** The kernel of the end's peer says that it has nothing of the connection. */
  deny(end: End): void {
    this.#abort(otherEnd(end))
  }

  #put(connection: Connection): void {
    this.#all.push(connection)
    for (const end of connection.ends) {
      for (const message of end.queue) this.#senders.set(message, end)
      if (end.side === undefined) continue
      const peer = this.#hosts.get(otherEnd(end).host)
      this.#hosts.get(end.host).ends.set(endKey(peer, end.side.nodePort, end.side.peerPort), end)
    }
  }

  #ask(listener: End): void {
    const { port, shownPort, number, opener } = listener.connection
    const host = this.#hosts.get(listener.host)
    const peer = this.#hosts.get(opener.host)
    host.ends.set(endKey(peer, port, shownPort), listener)
    const ports = { node: host.address, nodePort: port, peer: peer.address, peerPort: shownPort }
    listener.side = tcp.ask(ports, number, host)
    listener.asked = ++this.#asked
  }

  #askAgain(listener: End): void {
    this.#hold(otherEnd(listener), { kind: 'open', bytes: noBytes })
  }

  #enter(sender: End, receiver: End, side: tcp.Side, { kind, bytes }: Message): void {
    const host = this.#hosts.get(receiver.host)
    if (kind === 'data') this.#release(sender, tcp.send(side, bytes, host))
    if (kind === 'accept') tcp.accept(side, host)
    if (kind === 'refuse') tcp.refuse(side, host)
    if (kind === 'close') tcp.finish(side, host)
    if (kind === 'abort') tcp.abort(side, host)
    if (side.state === 'over') this.#forget(receiver)
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
    const peer = this.#hosts.get(otherEnd(end).host)
    this.#hosts.get(end.host).ends.delete(endKey(peer, side.nodePort, side.peerPort))
    end.side = undefined
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
      this.#askAgain(end)
    } else tcp.resendLost(end.side, this.#hosts.get(end.host))
  }

  #hold(end: End, { kind, bytes, meaning }: Pending): void {
    const { number: connection, port } = end.connection
    const [from, to] = [end.host, otherEnd(end).host]
    const ordinal = this.#ordinals.next([from, to])
    const message = { ordinal, from, to, transport: 'tcp', kind, port, connection, bytes } as const
    const held = { ...message, label: messageLabel(message, meaning) }
    end.queue.push(held)
    this.#senders.set(held, end)
  }
}
