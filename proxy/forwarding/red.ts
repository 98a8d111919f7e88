import type { EarlyDrop } from './early-drop.ts'

/** Weight of the present queue length in the average. */
const weight = 0.002
/**
 * Shares of the queue: below the first no packet is dropped; at the second the chance is `chanceAtMost`, and from there
 * it rises to 1 (gentle).
 */
const [least, most] = [1 / 6, 1 / 2]
const chanceAtMost = 0.1

/**
 * Random early detection (Floyd and Jacobson, 1993; gentle): the chance of a drop grows with the average length of the
 * queue and the packets since the last drop.
 */
export class RandomEarlyDetection implements EarlyDrop {
  readonly #random: () => number
  #average = 0
  #sinceDrop = -1
  #idleSince = Number.NEGATIVE_INFINITY

  constructor(random: () => number) {
    this.#random = random
  }

  copy(random: () => number): RandomEarlyDetection {
    const made = new RandomEarlyDetection(random)
    made.#average = this.#average
    made.#sinceDrop = this.#sinceDrop
    made.#idleSince = this.#idleSince
    return made
  }

  drops(now: number, share: number, waitMs: number, sendMs: number): boolean {
    // Small packets could have been sent while the queue was empty. Each of these packets would have found the queue
    // empty.
    if (waitMs === 0) this.#average *= (1 - weight) ** Math.max(0, (now - this.#idleSince) / sendMs)
    this.#average += weight * (share - this.#average)
    const isDropped = this.#isUnlucky()
    if (!isDropped) this.#idleSince = now + waitMs + sendMs
    return isDropped
  }

  #isUnlucky(): boolean {
    const chance = this.#chance()
    if (chance <= 0) {
      this.#sinceDrop = -1
      return false
    }
    this.#sinceDrop += 1
    const spread = chance < 1 && this.#sinceDrop * chance < 1 ? chance / (1 - this.#sinceDrop * chance) : 1
    if (this.#random() >= spread) return false
    this.#sinceDrop = 0
    return true
  }

  #chance(): number {
    if (this.#average < least) return 0
    if (this.#average < most) return (chanceAtMost * (this.#average - least)) / (most - least)
    return Math.min(1, chanceAtMost + ((1 - chanceAtMost) * (this.#average - most)) / most)
  }
}
