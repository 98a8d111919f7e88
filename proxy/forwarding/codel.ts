import type { EarlyDrop } from './early-drop.ts'

/** How long packets may wait, and for how long they may exceed that (RFC 8289, 4.2 and 4.3), in milliseconds. */
const targetMs = 5
const intervalMs = 100

/**
 * Controlled delay (RFC 8289): if packets have waited too long for an interval, one is dropped, and then others at
 * shrinking intervals. The decision belongs to the moment when a packet leaves the queue, but is known on its arrival,
 * because no packet overtakes another.
 */
export class ControlledDelay implements EarlyDrop {
  /** When packets will have waited too long for an interval. */
  #aboveSince: number | undefined
  #isDropping = false
  #dropNext = 0
  #count = 0
  #lastCount = 0

  copy(): ControlledDelay {
    const made = new ControlledDelay()
    made.#aboveSince = this.#aboveSince
    made.#isDropping = this.#isDropping
    made.#dropNext = this.#dropNext
    made.#count = this.#count
    made.#lastCount = this.#lastCount
    return made
  }

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
    // A packet that waits only for the one before has not waited too long, however slow the pipe is.
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
    // If it stopped dropping a moment ago, it continues at about the same rate.
    this.#count = since > 1 && leavesAt - this.#dropNext < 16 * intervalMs ? since : 1
    this.#lastCount = this.#count
    this.#dropNext = this.#after(leavesAt)
    return true
  }

  #after(time: number): number {
    return time + intervalMs / Math.sqrt(this.#count)
  }
}
