/** A packet for a node. */
export interface Outgoing {
  /** Gives it to the node's kernel. */
  write(): void
  /** Names the connection that it belongs to, where it belongs to one. */
  readonly connection?: number
  /** It says no more than what came: a later one of its connection says that too. */
  readonly isAcknowledgement?: boolean
}

/**
 * What is on its way to a node. A packet enters its kernel when the node rests, and the next one when it rests again:
 * what a program reads at once, and how much it may write, else depends on how far it was when the packet came.
 */
export class Outbox {
  #isResting = true
  #waiting: Outgoing[] = []

  send(packet: Outgoing): void {
    if (this.#isResting && this.#lastOf(packet) < 0) this.#write(packet)
    else this.#keep(packet)
  }

  /** The node rests, and nothing waits for it; or it is stopped. */
  rest(): void {
    this.#isResting = true
  }

  /** Sends the next packet to a node that rests; false where there is none. */
  sendNext(): boolean {
    const next = this.#waiting.shift()
    if (next) this.#write(next)
    return next !== undefined
  }

  /** Whether something entered the node since it was last said to rest. */
  get isRestless(): boolean {
    return !this.#isResting
  }

  /** For another kernel. */
  clear(): void {
    this.#isResting = true
    this.#waiting = []
  }

  #write(packet: Outgoing): void {
    this.#isResting = false
    packet.write()
  }

  /** Where the last waiting packet of the same connection is: no packet overtakes one of its connection. */
  #lastOf({ connection }: Outgoing): number {
    return this.#waiting.findLastIndex(waiting => waiting.connection === connection)
  }

  #keep(packet: Outgoing): void {
    const last = this.#lastOf(packet)
    if (packet.isAcknowledgement && this.#waiting[last]?.isAcknowledgement) this.#waiting[last] = packet
    else this.#waiting.push(packet)
  }
}
