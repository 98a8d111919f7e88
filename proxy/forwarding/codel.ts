import type { EarlyDrop } from './early-drop.ts'

/** What a packet may wait, and for how long it may be more (RFC 8289, 4.2 and 4.3). Milliseconds. */
const targetMs = 5
const intervalMs = 100

/**
 * Controlled delay (RFC 8289): where packets have waited too long for an interval, one is dropped, and then others ever
 * sooner. It decides when a packet leaves the queue; that is known as soon as it arrives, for nobody overtakes another.
 */
export class ControlledDelay implements EarlyDrop {
  /** When they will have waited too long for an interval. */
  #aboveSince: number | undefined
  #isDropping = false
  #dropNext = 0
  #count = 0
  #lastCount = 0

  drops(now: number, _share: number, waitMs: number, sendMs: number): boolean {
    const leavesAt = now + waitMs
    const isTooLong = this.#isTooLong(leavesAt, waitMs, sendMs)
    if (!this.#isDropping) return isTooLong && this.#begin(leavesAt)
    if (!isTooLong) this.#isDropping = false
    if (!this.#isDropping || leavesAt < this.#dropNext) return false
    this.#count += 1
    this.#dropNext = this.#after(this.#dropNext)
    return true
  }

  #isTooLong(leavesAt: number, waitMs: number, sendMs: number): boolean {
    // One that waits for the one before alone does not wait too long, however slow the pipe is.
    if (waitMs < targetMs || waitMs <= sendMs) {
      this.#aboveSince = undefined
      return false
    }
    this.#aboveSince ??= leavesAt + intervalMs
    return leavesAt >= this.#aboveSince
  }

  #begin(leavesAt: number): boolean {
    this.#isDropping = true
    const since = this.#count - this.#lastCount
    // It was dropping until a moment ago: it goes on about as fast.
    this.#count = since > 1 && leavesAt - this.#dropNext < 16 * intervalMs ? since : 1
    this.#lastCount = this.#count
    this.#dropNext = this.#after(leavesAt)
    return true
  }

  #after(time: number): number {
    return time + intervalMs / Math.sqrt(this.#count)
  }
}
