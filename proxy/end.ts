import type { Endpoint, PeersSee } from './endpoint.ts'
import type { Carried, Framing, Pending } from './framing.ts'
import { endKey, type Host } from './hosts.ts'
import type { LabelOf } from './label.ts'
import type { Message } from './message.ts'
import type { Segment } from './packet.ts'
import * as tcp from './tcp.ts'
import type { Way } from './way.ts'

/** What names a connection in its execution. */
export interface ConnectionNames {
  /** Hosts. */
  readonly opener: string
  readonly listener: string
  /** The n-th that `opener` opened to `listener`, from 1. */
  readonly number: number
  /** The listener's. */
  readonly port: number
  /** The opener's, as the listener sees it. */
  readonly shownPort: number
}

/** What is counted over all connections of a network. */
export interface Counters {
  /** Of messages, for each way. */
  nextOrdinal(way: Way): number
  /** Of listeners that were asked. */
  nextAsked(): number
  /** Of a message that this network holds. */
  readonly labelOf: LabelOf
}

/**
 * One end of a TCP connection between two nodes, which is cut in the middle: the node's kernel speaks to a `Side` of ours,
 * and what it sends is held here until it is delivered to the other end. A connection's state is that of its two sides
 * (`-`: the kernel there has nothing of it), and what moves it is a segment that arrives or a message that is delivered:
 *
 * | opener    | listener | then                                                                                |
 * |-----------|----------|-------------------------------------------------------------------------------------|
 * | asked     | -        | `open` is held; when it is delivered the listener's kernel is asked                 |
 * | asked     | asking   | the kernel answers in the step: `accept` or `refuse` is held; if not, `open` again  |
 * | asked     | open     | `accept` is delivered                                                               |
 * | answering | open     | the opener's kernel ends the handshake in the step                                  |
 * | open      | open     | `data`, `close` and `abort` are held, each way in order                             |
 * | over      | any      | that kernel has nothing more to say: forgotten, so `-`                              |
 * | -         | any      | whatever is delivered to it is answered with `abort`                                |
 */
export class End implements Endpoint {
  readonly host: Host
  readonly names: ConnectionNames
  readonly role: 'opener' | 'listener'
  readonly framing: Framing
  /** Set as soon as both are made. */
  other!: End
  /** What the host's kernel has of the connection; undefined before it was asked, and when it has nothing any more. */
  side: tcp.Side | undefined
  /** Sent in earlier steps and not delivered. Only the first may be. */
  queue: Message[] = []
  /** Nothing that this end sends can arrive any more: the other end reset the connection, or it did so itself. */
  isMuted = false
  /** Its host sent bytes or an end: a program has the connection, it waits in no backlog any more. */
  hasSpoken = false
  /** Of a listener: the how-many-th that was asked, of all connections. */
  asked = 0
  /** Sent in this step, in order; not a message yet. */
  #carried: Carried[] = []
  readonly #counters: Counters

  constructor({ host, names, role, framing }: Pick<End, 'host' | 'names' | 'role' | 'framing'>, counters: Counters) {
    this.host = host
    this.names = names
    this.role = role
    this.framing = framing
    this.#counters = counters
  }

  /** The node asks for the connection. */
  open(syn: Segment): void {
    this.side = tcp.meet(syn, this.names.number)
    this.face()
    this.#hold({ kind: 'open', bytes: noBytes })
  }

  /** The node sent something. */
  arrive({ entered, answer, data, end }: tcp.Arrival): void {
    this.other.#release(entered)
    if (answer) this.#carry(answer)
    if (data || end) this.hasSpoken = true
    if (data) this.#carry(Buffer.from(data))
    if (end === 'close') this.#carry('close')
    if (end === 'abort') this.abort()
    if (this.side?.state === 'over') this.#forget()
  }

  /** The first message of the other end's queue enters this end's node. */
  enter(message: Message): void {
    this.other.queue.shift()
    if (message.kind === 'open') this.#ask()
    else if (this.side !== undefined) this.#take(this.side, message)
    // A restarted node knows nothing of the connection, and says so.
    else if (message.kind !== 'abort' && message.kind !== 'refuse') this.abort()
  }

  /** Answers the first message of the other end's queue, which asks for the connection, in place of the node, which is down. */
  refuse(): void {
    this.other.queue.shift()
    this.#carry('refuse')
  }

  /** Whoever plays the host sends something: a message that is held. Undefined where nothing of it can arrive any more. */
  play({
    kind,
    bytes,
    meaning,
  }: Omit<Pending, 'meaning'> & { readonly meaning: string | undefined }): Message | undefined {
    if (this.isMuted) return undefined
    // What the answer means may depend on it.
    if (kind === 'data') this.framing.resume(bytes)
    this.#hold({ kind, bytes, ...(meaning !== undefined && { meaning }) })
    return this.queue.at(-1)
  }

  /** What the node sent enters the kernel of a host that is played. */
  takeSent(message: Message): void {
    this.queue = this.queue.filter(each => each !== message)
    this.#release(message.bytes.length)
  }

  /** What was carried in the step becomes messages. */
  endStep(): void {
    this.#recover()
    for (const pending of this.framing.cut(this.#carried)) this.#hold(pending)
    this.#carried = []
  }

  /** The node went down. */
  lose(peersSee: PeersSee): void {
    const side = this.side!
    this.side = undefined
    this.other.#release(tcp.waiting(side))
    // Unanswered, the peer's kernel goes on asking.
    if (side.state === 'asking') this.#askAgain()
    else if (peersSee === 'reset' && side.state !== 'asked') this.abort()
    else this.#carry('lost')
  }

  /** The network resets the connection at this end; what is in flight from it is gone. */
  reset(): void {
    tcp.abort(this.side!, this.host)
    this.#forget()
    this.#mute()
  }

  /** The kernel has reset the connection: what is on the way to it will find nobody. */
  abort(): void {
    this.#carry('abort')
    this.other.#mute()
  }

  /** Segments of this connection come here from now on. */
  face(): void {
    if (this.side) this.host.ends.set(this.#key(this.side), this)
  }

  /** Whether nothing is known of it that could still matter. */
  get isForgotten(): boolean {
    return this.side === undefined && this.queue.length === 0 && this.#carried.length === 0
  }

  #ask(): void {
    const { port: nodePort, shownPort: peerPort, number } = this.names
    const [node, peer] = [this.host.address, this.other.host.address]
    this.side = tcp.ask({ node, nodePort, peer, peerPort }, number, this.host)
    this.face()
    this.asked = this.#counters.nextAsked()
  }

  #askAgain(): void {
    this.other.#hold({ kind: 'open', bytes: noBytes })
  }

  #take(side: tcp.Side, { kind, bytes }: Message): void {
    if (kind === 'data') this.other.#release(tcp.send(side, bytes, this.host))
    if (kind === 'accept') tcp.accept(side, this.host)
    if (kind === 'refuse') tcp.refuse(side, this.host)
    if (kind === 'close') tcp.finish(side, this.host)
    if (kind === 'abort') tcp.abort(side, this.host)
    if (side.state === 'over') this.#forget()
  }

  #carry(item: Carried): void {
    if (!this.isMuted) this.#carried.push(item)
    else if (typeof item !== 'string') this.#release(item.length)
  }

  #mute(): void {
    this.isMuted = true
    this.queue = []
    this.#carried = []
    if (this.side) this.#release(this.side.held)
  }

  /** The kernel has nothing of the connection any more. */
  #forget(): void {
    if (this.side === undefined) return
    this.host.ends.delete(this.#key(this.side))
    this.side = undefined
  }

  /** Bytes that the node sent have entered the other node. */
  #release(bytes: number): void {
    if (this.side && bytes > 0) tcp.release(this.side, bytes, this.host)
  }

  /** At the end of a step every kernel has answered; one that has not dropped something. */
  #recover(): void {
    if (this.side === undefined) return
    if (this.side.state === 'asking') {
      // A full backlog: the opener's kernel would ask again.
      this.#forget()
      this.#askAgain()
    } else tcp.resendLost(this.side, this.host)
  }

  #hold({ kind, bytes, meaning }: Pending): void {
    const { number: connection, port } = this.names
    const [from, to] = [this.host.name, this.other.host.name]
    const ordinal = this.#counters.nextOrdinal([from, to])
    const message = { ordinal, from, to, transport: 'tcp', kind, port, connection, bytes } as const
    this.queue.push({ ...message, label: this.#counters.labelOf(message, meaning) })
  }

  #key({ nodePort, peerPort }: tcp.Side): number {
    return endKey(this.other.host, nodePort, peerPort)
  }
}

const noBytes = Buffer.alloc(0)
