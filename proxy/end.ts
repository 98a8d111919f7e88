import { ipv6Of } from '../linux/address.ts'
import type { Endpoint, PeersSee } from './endpoint.ts'
import { bytePart, type Division, type Framing, framePart, type Pending, type StreamItem } from './framing.ts'
import { endKey, type Host } from './hosts.ts'
import type { LabelOf } from './label.ts'
import type { Message } from './message.ts'
import type { Segment } from './packets/packet.ts'
import * as tcp from './tcp.ts'
import type { Way } from './way.ts'

/** The names of a connection in its execution. */
export interface ConnectionNames {
  readonly opener: string
  readonly listener: string
  /** Number among the connections from `opener` to `listener`, from 1. */
  readonly number: number
  /** The listener's port. */
  readonly port: number
  /** The opener's port as the listener sees it. */
  readonly shownPort: number
  /** Whether both kernels have it over IPv6. */
  readonly isSix?: boolean
}

/** How many bytes may be under way on a connection from one of its ends to the other. */
export type RoomOf = (way: Way, names: ConnectionNames) => number

/** Counters over all connections of a network. */
export interface Counters {
  /** Ordinal of the next message in a direction. @param frames how many ordinals it takes; one by default */
  nextOrdinal(way: Way, frames?: number): number
  /** Number of the next request to a listener. */
  nextAsked(): number
  /** Label of a message in this network. */
  readonly labelOf: LabelOf
  /** How many bytes may be under way from an end. */
  readonly roomOf: RoomOf
}

/**
 * One end of a TCP connection between two nodes. The connection is cut in the middle: the node's kernel speaks to a
 * `Side` of ours, and what it sends is held here until it is delivered to the other end. The state of a connection is
 * that of its two sides (`-`: the kernel there knows nothing of it). It changes when a segment arrives or a message is
 * delivered:
 *
 * | opener    | listener | then                                                                                |
 * |-----------|----------|-------------------------------------------------------------------------------------|
 * | asked     | -        | `open` is held; when delivered, it asks the listener's kernel                      |
 * | asked     | asking   | the kernel answers in the step: `accept` or `refuse` is held; if not, `open` again  |
 * | asked     | open     | `accept` is delivered                                                               |
 * | answering | open     | the opener's kernel ends the handshake in the step                                  |
 * | open      | open     | `data`, `close` and `abort` are held, each way in order                             |
 * | over      | any      | that kernel says nothing more: forgotten, so `-`                                    |
 * | -         | any      | whatever is delivered to it is answered with `abort`                                |
 */
export class End implements Endpoint {
  readonly host: Host
  readonly names: ConnectionNames
  readonly role: 'opener' | 'listener'
  readonly framing: Framing
  /** Set as soon as both ends exist. */
  other!: End
  /** Our peer for the host's kernel; undefined before the kernel was asked, and after it forgot the connection. */
  side: tcp.Side | undefined
  /** Messages sent in earlier steps and not delivered. Only the first one may be delivered. */
  queue: Message[] = []
  /** Whether nothing that this end sends can arrive any more, because either end reset the connection. */
  isMuted = false
  /** Whether its host sent bytes or an end. Then a program has accepted the connection, so it is not in a backlog. */
  hasSpoken = false
  /** For a listener: the number of the request among all connections. */
  asked = 0
  /** What was sent in this step, in order; not yet a message. */
  #carried: StreamItem[] = []
  readonly #counters: Counters

  constructor({ host, names, role, framing }: Pick<End, 'host' | 'names' | 'role' | 'framing'>, counters: Counters) {
    this.host = host
    this.names = names
    this.role = role
    this.framing = framing
    this.#counters = counters
  }

  /** The node requests the connection. */
  open(syn: Segment): void {
    this.side = tcp.meet(syn, this.names.number)
    this.side.room = this.#room
    this.face()
    this.#hold({ kind: 'open', bytes: noBytes })
  }

  /** The node sent something. */
  arrive({ entered, answer, data, end }: tcp.SegmentArrival): void {
    this.other.#release(entered)
    if (answer) this.#carry(answer)
    if (data || end) this.hasSpoken = true
    if (data) this.#carry(Buffer.from(data))
    if (end === 'close') this.#carry('close')
    if (end === 'abort') this.abort()
    if (this.side?.state === 'over') this.#forget()
  }

  /** Delivers the first message of the other end's queue to this end's node. */
  enter(message: Message): void {
    this.other.queue.shift()
    if (message.kind === 'open') this.#ask()
    else if (this.side !== undefined) this.#take(this.side, message)
    // A restarted node does not know the connection, and says so.
    else if (message.kind !== 'abort' && message.kind !== 'refuse') this.abort()
  }

  /**
   * Divides the first message of the queue.
   *
   * @returns both parts, the first of which can be delivered now
   */
  divide({ after, of }: Division): readonly [Message, Message] {
    const message = this.queue.shift()!
    const { labelOf } = this.#counters
    const partOf = of === 'frames' ? framePart : bytePart
    const parts = [partOf(message, [0, after], labelOf), partOf(message, [after], labelOf)] as const
    this.queue.unshift(...parts)
    return parts
  }

  /** Refuses the request at the head of the other end's queue, in place of this node, which is down. */
  refuse(): void {
    this.other.queue.shift()
    this.#carry('refuse')
  }

  /** Sends something from a played host, as a held message. Undefined if that is not possible: see `isPlayable`. */
  play({
    kind,
    bytes,
    meaning,
    isRead,
  }: Omit<Pending, 'meaning'> & {
    readonly meaning: string | undefined
    readonly isRead?: boolean
  }): Message | undefined {
    if (!this.isPlayable) return undefined
    // The meaning of the answer may depend on it.
    if (kind === 'data' && !isRead) this.framing.resume(bytes)
    this.#hold({ kind, bytes, ...(meaning !== undefined && { meaning }) })
    return this.queue.at(-1)
  }

  /**
   * Whether what a played host sends can be the next to arrive. It cannot while the other kernel has not answered the request for the
   * connection, as with a full backlog: the request is held to be sent again, and whoever plays the host knows nothing of it.
   */
  get isPlayable(): boolean {
    return !this.isMuted && !this.queue.some(({ kind }) => kind === 'open')
  }

  /** Delivers what the node sent to a played host. */
  takeSent(message: Message): void {
    this.queue = this.queue.filter(each => each !== message)
    this.#release(message.bytes.length)
  }

  /** Turns what was sent in the step into messages. */
  endStep(): void {
    this.#recover()
    if (this.#carried.length === 0) return
    for (const pending of this.framing.cut(this.#carried)) this.#hold(pending)
    this.#carried = []
  }

  /** The node went down. */
  lose(peersSee: PeersSee): void {
    const side = this.side!
    this.side = undefined
    this.other.#release(tcp.waiting(side))
    // Without an answer, the peer's kernel keeps asking.
    if (side.state === 'asking') this.#askAgain()
    else if (peersSee === 'reset' && side.state !== 'asked') this.abort()
    else this.#carry('lost')
  }

  /** The network resets the connection at this end and discards what is in flight from it. */
  reset(): void {
    if (this.side) tcp.abort(this.side, this.host)
    this.#forget()
    this.#mute()
  }

  /**
   * The network resets the connection at this end at once. The other end receives the reset as a message of its peer.
   */
  breakOff(): void {
    tcp.abort(this.side!, this.host)
    this.#forget()
    this.abort()
  }

  /** What told this end of a reset is lost: it learns of it once it sends something. */
  loseAbort(): void {
    this.other.queue.shift()
    this.isMuted = false
  }

  /** The kernel reset the connection. Messages to it will find nobody. */
  abort(): void {
    this.#carry('abort')
    this.other.#mute()
  }

  /** From now on, segments of this connection come here. */
  face(): void {
    if (this.side) this.host.ends.set(this.#key(this.side), this)
  }

  /** Whether nothing that is known of it can still matter. */
  get isForgotten(): boolean {
    return this.side === undefined && this.queue.length === 0 && this.#carried.length === 0
  }

  #ask(): void {
    const { port: nodePort, shownPort: peerPort, number, isSix } = this.names
    const addresses = [this.host.address, this.other.host.address] as const
    const [node, peer] = isSix ? [ipv6Of(addresses[0]), ipv6Of(addresses[1])] : addresses
    this.side = tcp.ask({ node, nodePort, peer, peerPort }, number, this.host)
    this.side.room = this.#room
    this.face()
    this.asked = this.#counters.nextAsked()
  }

  #askAgain(): void {
    this.other.#hold({ kind: 'open', bytes: noBytes })
  }

  #take(side: tcp.Side, { kind, bytes }: Message): void {
    if (kind === 'data') this.other.#release(tcp.sendBytes(side, bytes, this.host))
    if (kind === 'accept') tcp.accept(side, this.host)
    if (kind === 'refuse') tcp.refuse(side, this.host)
    if (kind === 'close') tcp.finish(side, this.host)
    if (kind === 'abort') tcp.abort(side, this.host)
    if (side.state === 'over') this.#forget()
  }

  #carry(item: StreamItem): void {
    if (!this.isMuted) this.#carried.push(item)
    else if (typeof item !== 'string') this.#release(item.length)
  }

  #mute(): void {
    this.isMuted = true
    this.queue = []
    this.#carried = []
    if (this.side) this.#release(this.side.held)
  }

  /** The kernel knows nothing of the connection any more. */
  #forget(): void {
    if (this.side === undefined) return
    this.host.ends.delete(this.#key(this.side))
    this.side = undefined
  }

  /** Bytes that the node sent have entered the other node. */
  #release(bytes: number): void {
    if (this.side === undefined || bytes === 0) return
    this.side.room = this.#room
    tcp.release(this.side, bytes, this.host)
  }

  get #room(): number {
    return this.#counters.roomOf([this.host.name, this.other.host.name], this.names)
  }

  /** Every kernel has answered by the end of a step. One that has not dropped a segment. */
  #recover(): void {
    if (this.side === undefined) return
    if (this.side.state === 'asking') {
      // The backlog was full. The opener's kernel asks again.
      this.#forget()
      this.#askAgain()
    } else tcp.resendLost(this.side, this.host)
  }

  #hold({ kind, bytes, meaning, frames }: Pending): void {
    const { number: connection, port, opener } = this.names
    const [from, to] = [this.host.name, this.other.host.name]
    const ordinal = this.#counters.nextOrdinal([from, to], frames?.length)
    const message = { ordinal, from, to, transport: 'tcp', kind, port, connection, opener, bytes } as const
    this.queue.push({ label: this.#counters.labelOf(message, meaning), ...message, ...(frames && { frames }) })
  }

  #key({ nodePort, peerPort }: tcp.Side): number {
    return endKey(this.other.host, nodePort, peerPort, this.names.isSix === true)
  }
}

const noBytes = Buffer.alloc(0)
