import { Duplex } from 'node:stream'
import { formatAddress } from '../linux/address.ts'
import { byteAt, type SplitPlace } from './borders.ts'
import type { Endpoint } from './endpoint.ts'
import type { SegmentArrival, Side, Wire } from './tcp.ts'
import * as tcp from './tcp.ts'

/** A UDP datagram from a node to a virtual host. */
export interface ReceivedDatagram {
  readonly from: string
  readonly sourcePort: number
  readonly port: number
  readonly payload: Buffer
}

/** A virtual host's connection with a node. */
export interface Stream {
  readonly host: string
  readonly socket: VirtualSocket
}

/** A host without a process, from which clients and observers speak to nodes. Its traffic is not held. */
export interface VirtualHost {
  readonly name: string
  readonly address: string
  /**
   * Opens a TCP connection, like `net.connect`: the stream emits `connect`, or `error` with code ECONNREFUSED. It moves
   * only while the network is pumped.
   *
   * @throws Error if the host is unknown or down
   */
  connect(host: string, port: number): VirtualSocket
  /** Its connections, in whatever state; those of a network made from a mark are here and nowhere else. */
  streams(): Stream[]
  /** @param sourcePort where the node's answer goes; shown to `onDatagram` as `port` */
  sendUdp(host: string, port: number, payload: Buffer, sourcePort?: number): void
  /** Calls `listener` for every datagram that comes, in the order they come; it replaces an earlier listener. */
  onDatagram(listener: (datagram: ReceivedDatagram) => void): void
}

/** The stream of a virtual host's connection; good for `undici` as the socket of its `connect`. */
export class VirtualSocket extends Duplex implements Endpoint {
  side: Side
  /** Asks the node once more, in another way, if it refuses. */
  askOtherwise: (() => Side) | undefined
  readonly remoteAddress: string
  readonly remotePort: number
  /** Where what is written now arrives in two parts. */
  splitsAt: (() => SplitPlace | undefined) | undefined
  readonly #wire: Wire
  /** To be called when what was written has entered the node. */
  #onEntered: (() => void) | undefined

  constructor(side: Side, wire: Wire) {
    super({ allowHalfOpen: false })
    this.side = side
    this.#wire = wire
    this.remoteAddress = formatAddress(side.node)
    this.remotePort = side.nodePort
  }

  /** The network calls it with what the node sent on this connection. */
  arrive({ answer, data, end, entered }: SegmentArrival): void {
    if (entered > 0 && tcp.waiting(this.side) === 0) this.#entered()
    if (answer === 'accept') this.emit('connect')
    if (answer === 'refuse' && this.askOtherwise && !this.destroyed) this.#askAgain(this.askOtherwise)
    else if (answer === 'refuse') this.destroy(this.#error('connect', 'ECONNREFUSED'))
    if (data !== undefined) this.#take(data)
    if (end === 'close') this.push(null)
    if (end === 'abort') this.lose()
  }

  /** The node is gone, or reset the connection. */
  lose(): void {
    this.side.state = 'over'
    this.destroy(this.#error('read', 'ECONNRESET'))
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const place = this.splitsAt?.()
    const at = place && chunk.length > 1 ? byteAt(place, chunk.length) : 0
    // A copy: the writer may use its buffer again once this is done, and the guard against loss may need it later.
    const bytes = Buffer.from(chunk)
    if (at === 0) return this.#send(bytes, done)
    tcp.sendBytes(this.side, bytes.subarray(0, at), this.#wire)
    // The node comes to rest in between.
    setImmediate(() => {
      if (this.destroyed) done()
      else this.#send(bytes.subarray(at), done)
    })
  }

  #send(bytes: Buffer, done: () => void): void {
    tcp.sendBytes(this.side, bytes, this.#wire)
    if (tcp.waiting(this.side) === 0) done()
    else this.#onEntered = done
  }

  override _final(done: () => void): void {
    tcp.finish(this.side, this.#wire)
    done()
  }

  override _read(): void {
    tcp.release(this.side, this.side.held, this.#wire)
  }

  /** As a kernel closes a socket: orderly if everything that came was read, else by a reset. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.side.state === 'asking') this.side.state = 'over'
    else if (this.side.state === 'open' && this.readableLength > 0) tcp.abort(this.side, this.#wire)
    else if (this.side.state === 'open') tcp.finish(this.side, this.#wire)
    this.#entered()
    done(error)
  }

  /** Bytes that were written already are sent on the new connection. */
  #askAgain(ask: () => Side): void {
    const { outgoing, finish } = this.side
    this.side = ask()
    this.askOtherwise = undefined
    for (const bytes of outgoing) tcp.sendBytes(this.side, bytes, this.#wire)
    if (finish === 'queued') tcp.finish(this.side, this.#wire)
  }

  #take(data: Buffer): void {
    if (this.destroyed) tcp.abort(this.side, this.#wire)
    else this.push(Buffer.from(data))
  }

  #entered(): void {
    const done = this.#onEntered
    this.#onEntered = undefined
    done?.()
  }

  #error(call: string, code: string): Error {
    const where = `${this.remoteAddress}:${this.remotePort}`
    return Object.assign(new Error(`${call} ${code} ${where}`), {
      code,
      syscall: call,
      address: this.remoteAddress,
      port: this.remotePort,
    })
  }
}
