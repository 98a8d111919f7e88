import type { Agenda } from './agenda.ts'
import type { Segment } from './segment.ts'
import type { Carry } from './ways.ts'

const acknowledgementBytes = 52
/**
 * The first segments, up to this number, are acknowledged one by one. More would make a window grow faster at first.
 */
const quickSegments = 16
/** Later, every second segment is acknowledged, or one that none follows for this long (`TCP_DELACK_MIN`). */
const delayedMs = 40

export interface Receipts {
  /** Everything before this position has arrived. */
  received(end: number, atMs: number): void
  /** The sender learns that these have arrived. */
  acknowledged(segments: readonly Segment[], atMs: number): void
}

/** The receiving end of a flow: it orders segments and acknowledges them. */
export class FlowReceiver {
  readonly #agenda: Agenda
  readonly #back: Carry
  readonly #receipts: Receipts
  #received = 0
  /** Of segments that arrived before their predecessors: the end, by the beginning. */
  readonly #early = new Map<number, number>()
  /** Segments whose arrival the sender has not yet been told. */
  #untold: Segment[] = []
  #segments = 0
  #isDelayed = false

  constructor(agenda: Agenda, back: Carry, receipts: Receipts) {
    this.#agenda = agenda
    this.#back = back
    this.#receipts = receipts
  }

  take(segment: Segment, atMs: number): void {
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
    this.#agenda.at(atMs + delayedMs, at => {
      this.#isDelayed = false
      if (this.#untold.length > 0) this.#tell(at)
    })
  }

  #tell(atMs: number): void {
    const told = this.#untold
    this.#untold = []
    this.#back(
      atMs,
      acknowledgementBytes,
      at => this.#receipts.acknowledged(told, at),
      // If this acknowledgement is lost, the next one includes its segments.
      () => void this.#untold.unshift(...told),
    )
  }
}
