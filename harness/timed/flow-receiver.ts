import { type Agenda, CallOf } from './agenda.ts'
import type { Copied, Copies } from './copies.ts'
import type { SegmentInFlight } from './segment.ts'
import type { Awaiting, Carrier } from './ways.ts'

const acknowledgementBytes = 52
/**
 * The first segments, up to this number, are acknowledged one by one. More would make a window grow faster at first.
 */
const quickSegments = 16
/** Later, every second segment is acknowledged, or one that none follows for this long (`TCP_DELACK_MIN`). */
const delayedMs = 40

/** The sending end. */
export interface Receipts extends Copied {
  /** Everything before this position has arrived. */
  received(end: number, atMs: number): void
  /** The sender learns that these have arrived. */
  acknowledged(segments: readonly SegmentInFlight[], atMs: number): void
}

/** The receiving end of a flow: it orders segments and acknowledges them. */
export class FlowReceiver implements Copied {
  readonly #agenda: Agenda
  /** Carries acknowledgements. */
  readonly back: Carrier
  readonly #receipts: Receipts
  #received = 0
  /** Of segments that arrived before their predecessors: the end, by the beginning. */
  readonly #early = new Map<number, number>()
  /** Segments whose arrival the sender has not yet been told. */
  #untold: SegmentInFlight[] = []
  #segments = 0
  #isDelayed = false

  constructor(agenda: Agenda, back: Carrier, receipts: Receipts) {
    this.#agenda = agenda
    this.back = back
    this.#receipts = receipts
  }

  /** The sending end has one. */
  copy(copies: Copies): FlowReceiver {
    copies.of(this.#receipts)
    return copies.noted(this)
  }

  /** Takes on the state of another one. */
  become(other: FlowReceiver, copies: Copies): void {
    this.#received = other.#received
    for (const [from, to] of other.#early) this.#early.set(from, to)
    this.#untold = other.#untold.map(segment => copies.ofPlain(segment))
    this.#segments = other.#segments
    this.#isDelayed = other.#isDelayed
  }

  take(segment: SegmentInFlight, atMs: number): void {
    const isInOrder = segment.from === this.#received
    if (segment.from >= this.#received) this.#early.set(segment.from, segment.to)
    for (let end = this.#early.get(this.#received); end !== undefined; end = this.#early.get(end)) {
      this.#early.delete(this.#received)
      this.#received = end
    }
    this.#untold.push(segment)
    this.#segments += 1
    const isQuick = this.#segments <= quickSegments || !isInOrder || this.#early.size > 0
    if (isQuick || this.#untold.length > 1) this.#tell(atMs)
    else this.#tellLater(atMs)
    this.#receipts.received(this.#received, atMs)
  }

  #tellLater(atMs: number): void {
    if (this.#isDelayed) return
    this.#isDelayed = true
    this.#agenda.at(atMs + delayedMs, new CallOf(this, 'endDelay'))
  }

  /** An acknowledgement was delayed for long enough. */
  endDelay(atMs: number): void {
    this.#isDelayed = false
    if (this.#untold.length > 0) this.#tell(atMs)
  }

  /** The sender learns that these have arrived. */
  told(segments: readonly SegmentInFlight[], atMs: number): void {
    this.#receipts.acknowledged(segments, atMs)
  }

  /** An acknowledgement was lost: the next one includes its segments. */
  tellAgain(segments: readonly SegmentInFlight[]): void {
    this.#untold.unshift(...segments)
  }

  #tell(atMs: number): void {
    const told = this.#untold
    this.#untold = []
    this.back.carry(atMs, acknowledgementBytes, new Acknowledgement(this, told))
  }
}

class Acknowledgement implements Awaiting {
  readonly #receiver: FlowReceiver
  readonly #segments: readonly SegmentInFlight[]

  constructor(receiver: FlowReceiver, segments: readonly SegmentInFlight[]) {
    this.#receiver = receiver
    this.#segments = segments
  }

  copy(copies: Copies): Acknowledgement {
    const segments = this.#segments.map(segment => copies.ofPlain(segment))
    return new Acknowledgement(copies.of(this.#receiver), segments)
  }

  arrived(atMs: number): void {
    this.#receiver.told(this.#segments, atMs)
  }

  wasLost(): void {
    this.#receiver.tellAgain(this.#segments)
  }
}
