import { type Agenda, CallOf } from './agenda.ts'
import type { Copies } from './copies.ts'
import { FlowReceiver, type Receipts } from './flow-receiver.ts'
import { RoundTrips } from './round-trips.ts'
import type { SegmentInFlight } from './segment.ts'
import { SendWindow } from './send-window.ts'
import type { Awaiting, Carrier } from './ways.ts'

/** Payload of a segment: an Ethernet packet without the headers of IP and TCP and the option for time stamps. */
const segmentBytes = 1448
const headerBytes = 52
/** Lower limit of Linux's retransmission time-out. */
const retransmitMsMin = 200
const retransmitMsMax = 120_000
/** The time-out before a round trip was measured (RFC 6298). */
const retransmitMsAtFirst = 1000
/** Sendings after which a segment is given up. A kernel tries 15 times (`tcp_retries2`). */
const triesMax = 15
/** A segment counts as lost once this many later ones have arrived (RFC 6675). */
const laterMax = 3

/**
 * Linux's send buffer: room for twice the window, where each segment counts with its overhead (`tcp_sndbuf_expand`), but at most
 * 4 MiB (`tcp_wmem`). It holds what is not acknowledged and what was not sent yet, and never shrinks.
 */
const bufferedPerSegment = 2 * 4352
const bufferBytesMax = 4 << 20

/** Is told when what was written has arrived. */
type Reader = Pick<Awaiting, 'arrived' | 'copy'>

/**
 * One direction of a TCP connection, segment by segment, in virtual time: a model of Linux's sender (slow start and its
 * end by HyStart, CUBIC, selective acknowledgements, probes and time-outs) and of its receiver, which acknowledges
 * every second segment on the way back. Not modelled: a receiver's window that is still growing, pacing, and undoing a
 * reduction of the window that proves unnecessary.
 */
export class Flow implements Receipts {
  readonly #agenda: Agenda
  readonly #there: Carrier
  readonly #receiver: FlowReceiver
  readonly #window: SendWindow
  readonly #roundTrips: RoundTrips
  /** Bytes that were written, and how many of them were sent at least once. */
  #written = 0
  #sent = 0
  /** Ends of the writes, each with who awaits its arrival. */
  readonly #awaited: { readonly end: number; readonly reader: Reader }[] = []
  /** Segments in flight, ordered by their last sending, without those known to have arrived. */
  #underWay: SegmentInFlight[] = []
  /** How many segments in flight are not known to be lost. */
  #outstanding = 0
  #again: SegmentInFlight[] = []
  #order = 0
  #newestDelivered = -1
  /** When silence makes the sender act; Infinity if it awaits nothing. */
  #silenceMs = Number.POSITIVE_INFINITY
  #isTimed = false
  #hasProbed = false
  #backoff = 1
  #lastSentMs = 0
  #isOver = false

  /**
   * @param there carries segments
   *
   * @param back carries acknowledgements
   *
   * @param of another flow: what it knows at present
   */
  constructor(agenda: Agenda, there: Carrier, back: Carrier, of?: { window: SendWindow; roundTrips: RoundTrips }) {
    this.#agenda = agenda
    this.#there = there
    this.#receiver = new FlowReceiver(agenda, back, this)
    this.#window = of?.window ?? new SendWindow()
    this.#roundTrips = of?.roundTrips ?? new RoundTrips()
  }

  copy(copies: Copies): Flow {
    const of = { window: this.#window.copy(), roundTrips: this.#roundTrips.copy() }
    const back = copies.of(this.#receiver.back)
    const made = copies.note(this, new Flow(copies.of(this.#agenda), copies.of(this.#there), back, of))
    copies.note(this.#receiver, made.#receiver).become(this.#receiver, copies)
    const copyOf = (segment: SegmentInFlight) => copies.ofPlain(segment)
    made.#awaited.push(...this.#awaited.map(({ end, reader }) => ({ end, reader: copies.of(reader) })))
    made.#written = this.#written
    made.#sent = this.#sent
    made.#underWay = this.#underWay.map(copyOf)
    made.#outstanding = this.#outstanding
    made.#again = this.#again.map(copyOf)
    made.#order = this.#order
    made.#newestDelivered = this.#newestDelivered
    made.#silenceMs = this.#silenceMs
    made.#isTimed = this.#isTimed
    made.#hasProbed = this.#hasProbed
    made.#backoff = this.#backoff
    made.#lastSentMs = this.#lastSentMs
    made.#isOver = this.#isOver
    return made
  }

  /**
   * Sends this many bytes; 1 for a packet that opens or ends the connection.
   *
   * @param reader is told when the last byte has arrived, in order
   */
  send(bytes: number, atMs: number, reader: Reader): void {
    if (this.#outstanding === 0 && atMs - this.#lastSentMs > this.#timeOutMs()) this.#window.beginAgain()
    this.#written += bytes
    this.#awaited.push({ end: this.#written, reader })
    this.#transmit(atMs)
  }

  /** How many bytes a program may have written that are not acknowledged. */
  get bufferBytes(): number {
    return Math.min(this.#window.segmentsEver * bufferedPerSegment, bufferBytesMax)
  }

  /** The connection is gone. */
  end(): void {
    this.#isOver = true
    this.#silenceMs = Number.POSITIVE_INFINITY
  }

  received(end: number, atMs: number): void {
    while (this.#awaited.length > 0 && this.#awaited[0]!.end <= end) this.#awaited.shift()!.reader.arrived(atMs)
  }

  /** Sends as much as the window allows. */
  #transmit(atMs: number): void {
    while (!this.#isOver) {
      const segment = this.#outstanding < this.#window.segments ? this.#nextSegment() : undefined
      if (segment === undefined) break
      this.#sendSegment(segment, atMs)
    }
    this.#window.isLimiting = this.#outstanding >= this.#window.segments
    this.#watch(atMs)
  }

  #nextSegment(): SegmentInFlight | undefined {
    const lost = this.#again.shift()
    if (lost) return lost
    if (this.#sent === this.#written) return undefined
    const from = this.#sent
    this.#sent = Math.min(from + segmentBytes, this.#written)
    return { from, to: this.#sent, sentMs: 0, order: 0, tries: 0, isDelivered: false, isLost: false, later: 0 }
  }

  #sendSegment(segment: SegmentInFlight, atMs: number): void {
    if (segment.tries === triesMax) return this.end()
    if (segment.tries > 0) this.#underWay = this.#underWay.filter(each => each !== segment)
    if (segment.tries === 0 || segment.isLost) this.#outstanding += 1
    segment.tries += 1
    segment.order = this.#order++
    segment.sentMs = atMs
    segment.isLost = false
    segment.later = 0
    this.#underWay.push(segment)
    this.#lastSentMs = atMs
    this.#there.carry(atMs, segment.to - segment.from + headerBytes, new SentSegment(this.#receiver, segment))
  }

  /** The sender learns that segments have arrived. */
  acknowledged(segments: readonly SegmentInFlight[], atMs: number): void {
    if (this.#isOver) return
    // A segment that was sent twice may have arrived twice since the last acknowledgement.
    const fresh = [...new Set(segments)].filter(segment => !segment.isDelivered)
    for (const segment of fresh) this.#deliver(segment, atMs)
    if (fresh.length > 0) {
      this.#backoff = 1
      this.#hasProbed = false
      this.#window.acknowledged(fresh.length, this.#newestDelivered, atMs, this.#roundTrips)
    }
    this.#findLost(atMs)
    this.#transmit(atMs)
  }

  #deliver(segment: SegmentInFlight, atMs: number): void {
    if (!segment.isLost) this.#outstanding -= 1
    else this.#again = this.#again.filter(each => each !== segment)
    segment.isDelivered = true
    // After two sendings it is unknown which one arrived, so the round trip cannot be measured.
    if (segment.tries === 1) this.#roundTrips.measured(atMs - segment.sentMs)
    this.#newestDelivered = Math.max(this.#newestDelivered, segment.order)
    if (this.#underWay[0] === segment) this.#underWay.shift()
    else this.#underWay = this.#underWay.filter(each => each !== segment)
    for (const each of this.#underWay) {
      if (each.order > segment.order) break
      each.later += 1
    }
  }

  /** Finds lost segments: those that later ones overtook (RFC 6675), or that are too late (RFC 8985). */
  #findLost(atMs: number): void {
    const patienceMs = this.#roundTrips.least / 4
    let waitMs = Number.POSITIVE_INFINITY
    for (const segment of this.#underWay) {
      if (segment.order > this.#newestDelivered) break
      if (segment.isLost) continue
      const lateMs = atMs - segment.sentMs - this.#roundTrips.last
      if (segment.later >= laterMax || lateMs >= patienceMs) this.#lose(segment, atMs)
      else waitMs = Math.min(waitMs, patienceMs - lateMs)
    }
    if (waitMs < Number.POSITIVE_INFINITY)
      this.#agenda.at(atMs + Math.max(waitMs, 0.001), new CallOf(this, 'lookForLost'))
  }

  /** Segments may have become too late. */
  lookForLost(atMs: number): void {
    if (this.#isOver) return
    this.#findLost(atMs)
    this.#transmit(atMs)
  }

  #lose(segment: SegmentInFlight, atMs: number): void {
    segment.isLost = true
    this.#outstanding -= 1
    this.#again.push(segment)
    this.#again.sort((one, other) => one.from - other.from)
    this.#window.cut(segment.order, this.#order, atMs)
  }

  /** Acts on a long silence: first sends a probe, then everything again. */
  #watch(atMs: number): void {
    if (this.#isOver || this.#outstanding === 0) {
      this.#silenceMs = Number.POSITIVE_INFINITY
      return
    }
    this.#silenceMs = this.#lastSentMs + this.#patienceMs()
    this.#time(atMs)
  }

  #patienceMs(): number {
    const timeOut = Math.min(this.#timeOutMs() * this.#backoff, retransmitMsMax)
    if (this.#hasProbed || !this.#roundTrips.isKnown) return timeOut
    const alone = this.#outstanding === 1 ? retransmitMsMin : 0
    return Math.min(timeOut, 2 * this.#roundTrips.smooth + alone + 2)
  }

  /** Keeps at most one entry on the agenda, and moves it to the time that applies by then. */
  #time(atMs: number): void {
    if (this.#isTimed || this.#silenceMs === Number.POSITIVE_INFINITY) return
    this.#isTimed = true
    this.#agenda.at(Math.max(atMs, this.#silenceMs), new CallOf(this, 'endSilence'))
  }

  /** The silence may have been too long. */
  endSilence(atMs: number): void {
    this.#isTimed = false
    if (this.#silenceMs <= atMs) this.#breakSilence(atMs)
    else this.#time(atMs)
  }

  #breakSilence(atMs: number): void {
    if (!this.#hasProbed && this.#roundTrips.isKnown) {
      this.#hasProbed = true
      const probe = this.#underWay.findLast(segment => !segment.isLost)
      if (probe) this.#sendSegment(probe, atMs)
      return this.#watch(atMs)
    }
    this.#backoff *= 2
    for (const segment of this.#underWay) if (!segment.isLost) this.#lose(segment, atMs)
    this.#window.timedOut(this.#order)
    this.#transmit(atMs)
  }

  #timeOutMs(): number {
    const { isKnown, smooth, varies } = this.#roundTrips
    return isKnown ? smooth + Math.max(retransmitMsMin, 4 * varies) : retransmitMsAtFirst
  }
}

/** A segment on its way to the receiver. */
class SentSegment implements Awaiting {
  readonly #receiver: FlowReceiver
  readonly #segment: SegmentInFlight

  constructor(receiver: FlowReceiver, segment: SegmentInFlight) {
    this.#receiver = receiver
    this.#segment = segment
  }

  copy(copies: Copies): SentSegment {
    return new SentSegment(copies.of(this.#receiver), copies.ofPlain(this.#segment))
  }

  arrived(atMs: number): void {
    this.#receiver.take(this.#segment, atMs)
  }

  /** The sender will find out. */
  wasLost(): void {}
}
