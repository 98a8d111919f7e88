/** Payload of a segment: an Ethernet's packet without the headers of IP and TCP and the option of time stamps. */
const segmentBytes = 1448
const headerBytes = 52
/** Segments that may be under way at first, and again after a silence (RFC 6928). */
const initialWindow = 10
/** Segments that may be under way at most: Linux lets a socket buffer 4 MiB (`tcp_wmem`, `tcp_rmem`). */
const windowMax = 2900
/** The least time after which Linux sends something again that nothing followed. */
const retransmitMsMin = 200
/** How much of its window a flow keeps when something was lost (CUBIC, RFC 9438). */
const keptShare = 0.7
/** CUBIC's constant, in segments a second cubed. */
const growth = 0.4
/** Segments that it grows by in a round trip at least, as fast as TCP without CUBIC would (RFC 9438, 4.3). */
const friendly = (3 * (1 - keptShare)) / (1 + keptShare)
/** A segment is lost for good after so many times; a kernel tries 15 times (`tcp_retries2`). */
const triesMax = 15

/** What a flow needs to know of its way. Times are milliseconds. */
export interface FlowWay {
  /** When a packet that is sent then arrives; undefined where it never does. */
  pass(atMs: number, bytes: number): number | undefined
  /** Propagation of an acknowledgement on the way back. */
  readonly backMs: number
}

/**
 * What one direction of a TCP connection costs: a model, packet by packet, of a sender's window (slow start with HyStart's
 * end of it, CUBIC after a loss, a new start after a silence) and of what a lost segment costs: a round trip where enough
 * follows it, a probe or a time-out where not. Left out: delayed acknowledgements, the receiver's window before it has
 * grown, and that several segments lost in one window are found one after another.
 */
export class Flow {
  readonly #way: () => FlowWay
  #window = initialWindow
  #threshold = Number.POSITIVE_INFINITY
  /** The window that it aims at, since when, and after how many seconds it gets there (CUBIC's W_max, epoch and K). */
  #aim = 0
  #aimedAt = 0
  #aimS = 0
  /** When what is under way is acknowledged; the oldest first. */
  #underWay: number[] = []
  #leastRoundTrip = Number.POSITIVE_INFINITY
  /** The last one, with what it waited in queues. */
  #roundTrip = 0
  #lastCut = Number.NEGATIVE_INFINITY
  #lastSent = 0
  #lastArrival = 0

  /** @param way as it is now: what is laid upon it may change */
  constructor(way: () => FlowWay) {
    this.#way = way
  }

  /**
   * Sends so many bytes.
   *
   * @param isMore whether they waited only for room that the receiver's end made: they go on where the last ones ended
   * @returns when the last of them has arrived, none before what was sent before
   */
  send(bytes: number, atMs: number, isMore = false): number {
    const way = this.#way()
    let at = isMore ? Math.min(atMs, this.#lastSent) : atMs
    if (at - this.#lastSent > this.#timeOut()) this.#beginAgain()
    for (let left = bytes; left > 0; left -= segmentBytes) {
      at = Math.max(at, this.#awaitRoom(at))
      const isLast = left <= 3 * segmentBytes
      this.#sendSegment(way, at, Math.min(left, segmentBytes), isLast && bytes <= segmentBytes, isLast)
    }
    this.#lastSent = Math.max(at, this.#lastSent)
    return this.#lastArrival
  }

  /** Sends a packet of the connection itself: it opens or ends it. One that opens it is waited for a second at first. */
  control(atMs: number, opens: boolean): number {
    const way = this.#way()
    let at = atMs
    for (let wait = opens ? 1000 : this.#timeOut(), tries = 0; tries < triesMax; wait *= 2, tries++) {
      const arrival = way.pass(at, headerBytes)
      if (arrival !== undefined) return this.#arrive(arrival)
      at += wait
    }
    return this.#arrive(at)
  }

  #sendSegment(way: FlowWay, at: number, bytes: number, isAlone: boolean, isLast: boolean): void {
    let sent = at
    let arrival = way.pass(sent, bytes + headerBytes)
    for (let tries = 1; arrival === undefined && tries < triesMax; tries++) {
      const roundTrip = Number.isFinite(this.#leastRoundTrip) ? this.#leastRoundTrip : 2 * way.backMs
      // A tail loss probe (RFC 8985) where nothing follows that the receiver could tell of.
      const found = isLast ? 2 * roundTrip + (isAlone ? retransmitMsMin : 0) : roundTrip
      sent += tries === 1 ? Math.max(found, 1) : this.#timeOut() * 2 ** (tries - 2)
      if (tries === 1) this.#cut(sent)
      else this.#window = 1
      arrival = way.pass(sent, bytes + headerBytes)
    }
    const acknowledged = (arrival ?? sent) + way.backMs
    this.#underWay.push(Math.max(acknowledged, this.#underWay.at(-1) ?? 0))
    this.#look(acknowledged, acknowledged - sent)
    this.#arrive(arrival ?? sent)
  }

  /** In order: nothing is given to the program before what was sent before. */
  #arrive(arrival: number): number {
    this.#lastArrival = Math.max(this.#lastArrival, arrival)
    return this.#lastArrival
  }

  /** When another segment may be sent. */
  #awaitRoom(at: number): number {
    let time = at
    while (
      this.#underWay.length > 0 &&
      (this.#underWay[0]! <= time || this.#underWay.length >= Math.floor(this.#window))
    ) {
      time = Math.max(time, this.#underWay.shift()!)
      this.#grow(time)
    }
    return time
  }

  #grow(at: number): void {
    if (this.#window < this.#threshold) this.#window += 1
    else {
      const cubic = growth * ((at - this.#aimedAt) / 1000 - this.#aimS) ** 3 + this.#aim
      this.#window += Math.max(friendly, cubic - this.#window) / this.#window
    }
    this.#window = Math.min(this.#window, windowMax)
  }

  /** HyStart: slow start ends where round trips grow. */
  #look(acknowledged: number, roundTrip: number): void {
    this.#roundTrip = roundTrip
    this.#leastRoundTrip = Math.min(this.#leastRoundTrip, roundTrip)
    const later = Math.min(Math.max(this.#leastRoundTrip / 8, 4), 16)
    if (this.#window < this.#threshold && this.#window >= 16 && roundTrip > this.#leastRoundTrip + later) {
      this.#threshold = this.#window
      this.#aimFor(this.#window, acknowledged, 0)
    }
  }

  /** At most once in a round trip. */
  #cut(at: number): void {
    if (at - this.#lastCut < 1.5 * this.#roundTrip) return
    this.#lastCut = at
    this.#aimFor(this.#window, at, Math.cbrt((this.#window * (1 - keptShare)) / growth))
    this.#window = Math.max(2, this.#window * keptShare)
    this.#threshold = this.#window
  }

  #aimFor(window: number, since: number, inS: number): void {
    this.#aim = window
    this.#aimedAt = since
    this.#aimS = inS
  }

  #beginAgain(): void {
    this.#window = Math.min(this.#window, initialWindow)
    this.#underWay = []
  }

  #timeOut(): number {
    return retransmitMsMin + (Number.isFinite(this.#leastRoundTrip) ? this.#leastRoundTrip : 800)
  }
}
