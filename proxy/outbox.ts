/** A packet for a node. */
export interface Outgoing {
  /** Writes it to the node's kernel. */
  write(): void
  /** Key of the packet's connection; undefined for a datagram. */
  readonly connection?: number | undefined
  /** Whether the packet only acknowledges: a later packet of its connection then makes it superfluous. */
  readonly isAcknowledgement?: boolean
}

/**
 * Packets on their way to a node. A packet enters the node's kernel when the node rests, and the next one when it rests
 * again. Otherwise what a program reads at once, and how much it may write, would depend on how far it was when a
 * packet came.
 */
export class Outbox {
  #isResting = true
  #waiting: Outgoing[] = []

  send(packet: Outgoing): void {
    if (this.#isResting && this.#lastOf(packet) < 0) this.#write(packet)
    else this.#keep(packet)
  }

  /** The node rests and nothing waits for it, or it is stopped. */
  rest(): void {
    this.#isResting = true
  }

  /** Sends the next packet to a resting node; returns false if there is none. */
  sendNext(): boolean {
    const next = this.#waiting.shift()
    if (next) this.#write(next)
    return next !== undefined
  }

  /** Whether something entered the node since it was last reported to rest. */
  get isRestless(): boolean {
    return !this.#isResting
  }

  /** Empties it for a new kernel. */
  clear(): void {
    this.#isResting = true
    this.#waiting = []
  }

  #write(packet: Outgoing): void {
    this.#isResting = false
    packet.write()
  }

  /** Index of the last waiting packet of the same connection, because packets of a connection must stay in order. */
  #lastOf({ connection }: Outgoing): number {
    return this.#waiting.findLastIndex(waiting => waiting.connection === connection)
  }

  #keep(packet: Outgoing): void {
    const last = this.#lastOf(packet)
    if (packet.isAcknowledgement && this.#waiting[last]?.isAcknowledgement) this.#waiting[last] = packet
    else this.#waiting.push(packet)
  }
}
