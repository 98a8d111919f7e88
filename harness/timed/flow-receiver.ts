import type { Agenda } from './agenda.ts'
import type { Segment } from './segment.ts'
import type { Carry } from './ways.ts'

const acknowledgementBytes = 52
/** So many segments are acknowledged each by itself at first. */
const quickSegments = 16
/** After that each second one is, or one that no other follows for so long (`TCP_DELACK_MIN`). */
const delayedMs = 40

export interface Receipts {
  /** All before this place has arrived. */
  received(end: number, atMs: number): void
  /** The sender learns of these. */
  acknowledged(segments: readonly Segment[], atMs: number): void
}

/** The end of a flow that receives: it puts segments in order, and acknowledges them. */
export class FlowReceiver {
  readonly #agenda: Agenda
  readonly #back: Carry
  readonly #receipts: Receipts
  #received = 0
  /** Ends of what has arrived before what precedes it, by its beginning. */
  readonly #early = new Map<number, number>()
  /** What the sender was not told of yet. */
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
      // The next acknowledgement tells the same, and more.
      () => void this.#untold.unshift(...told),
    )
  }
}
