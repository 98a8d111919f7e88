/**
 * A reliable transport of messages over datagrams, after MaceTransport (MaceMC, NSDI 2007, section 5): messages arrive
 * in order, without duplicates within a connection, and without a handshake before the first one. These are its two ends
 * without sockets and clocks: each method takes what happened and returns the packets to send.
 *
 *     SYN seq opened message    opens a connection and carries its first message
 *     DATA seq message          carries the next one
 *     ACK seq                   everything of the connection up to `seq` has arrived
 *
 * Sequence numbers count messages and start at random, so that they tell connections apart. `opened` grows from one
 * connection of a sender to the next, so that it tells which of two is the later.
 */

/** A connection is closed when so many SYNs, a retransmission time-out apart, were not acknowledged. */
const synsMax = 2

/** The sending end, with one packet in flight at a time. */
export class Sender {
  /** Messages given and not acknowledged, oldest first. */
  unacknowledged = []
  /** `seq` numbers the packet in flight, or the next one where nothing is in flight. */
  connection
  #newConnection

  /** `newConnection()` returns the first sequence number and the `opened` of a connection. */
  constructor(newConnection) {
    this.#newConnection = newConnection
  }

  /** Whether something is in flight, so that the retransmission timer has to run. */
  get inFlight() {
    return this.unacknowledged.length > 0
  }

  give(message) {
    const idle = !this.inFlight
    this.unacknowledged.push(message)
    if (!idle) return []
    return this.connection ? [this.#packet()] : this.#open()
  }

  /** An acknowledgement of anything but the packet in flight is one of the past. */
  onPacket({ type, seq }) {
    if (type !== 'ACK' || !this.inFlight || seq !== this.connection.seq) return []
    this.unacknowledged.shift()
    this.connection = { seq: seq + 1, established: true }
    return this.inFlight ? [this.#packet()] : []
  }

  /** The retransmission timer: a connection that once was established is never given up. */
  onTimer() {
    if (this.connection.established) return [this.#packet()]
    if (this.connection.syns === synsMax) return this.#open()
    this.connection.syns += 1
    return [this.#packet()]
  }

  /** What was not acknowledged is given again on a new connection, whatever became of the one before. */
  #open() {
    const { seq, opened } = this.#newConnection()
    this.connection = { seq, opened, established: false, syns: 1 }
    return [this.#packet()]
  }

  #packet() {
    const { seq, opened, established } = this.connection
    const [message] = this.unacknowledged
    return established ? { type: 'DATA', seq, message } : { type: 'SYN', seq, opened, message }
  }
}

/** The receiving end of one sender. */
export class Receiver {
  /** Messages in the order of their arrival; one that was given again on another connection arrives again. */
  delivered = []
  /** `seq` numbers the last message that arrived in order. */
  connection
  #opens

  /** `acceptStaleSyn` is the bug that MaceMC found: a late SYN of a connection closed long ago counts as a new one. */
  constructor({ acceptStaleSyn = false } = {}) {
    this.#opens = acceptStaleSyn ? (opened, present) => opened !== present : (opened, present) => opened > present
  }

  /** Whatever is not the next message of the connection changes nothing, and is told how far the connection is. */
  onPacket({ type, seq, opened, message }) {
    if (type === 'SYN' && (!this.connection || this.#opens(opened, this.connection.opened))) {
      this.connection = { seq, opened }
      this.delivered.push(message)
    } else if (type === 'DATA' && seq === this.connection?.seq + 1) {
      this.connection.seq = seq
      this.delivered.push(message)
    }
    return this.connection ? [{ type: 'ACK', seq: this.connection.seq }] : []
  }
}
