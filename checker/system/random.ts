/**
 * A seeded source of random numbers: the same seed gives the same search.
 *
 * The generator is sfc32 (Chris Doty-Humphrey, PractRand, 2010): 128 bits of state, passes PractRand and BigCrush,
 * shortest cycle at least 2^32. The seed fills one word; the first twelve outputs are discarded to mix it.
 */
export class Random {
  #a = 0
  #b = 0
  #c: number
  #counter = 1

  /** Any number; only its lowest 32 bits count. */
  constructor(seed: number) {
    this.#c = seed | 0
    for (let i = 0; i < 12; i++) this.#word()
  }

  /** Another source that draws the same numbers from here on. */
  copy(): Random {
    const copy = new Random(0)
    copy.#a = this.#a
    copy.#b = this.#b
    copy.#c = this.#c
    copy.#counter = this.#counter
    return copy
  }

  /** Uniform in [0, 1), with 32 random bits. */
  next(): number {
    return this.#word() / 2 ** 32
  }

  /** A uniform integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** A number between these, as often in each power of two. */
  between(least: number, most: number): number {
    return least * (most / least) ** this.next()
  }

  /** A uniform element of a non-empty list. */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('cannot pick from an empty list')
    return list[this.below(list.length)]!
  }

  /** 1 with probability 1/2, 2 with 1/4, and so on; at most 8. */
  few(): number {
    let count = 1
    while (count < 8 && this.below(2) === 0) count += 1
    return count
  }

  /** The elements in a uniformly random order (Fisher-Yates). */
  shuffle<T>(list: readonly T[]): T[] {
    const shuffled = [...list]
    for (let i = shuffled.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      ;[shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!]
    }
    return shuffled
  }

  /** An element with a probability proportional to its weight; `undefined` if no weight is above zero. */
  weighted<T>(list: readonly T[], weight: (element: T) => number): T | undefined {
    const weights = list.map(element => Math.max(0, weight(element)))
    let point = this.next() * weights.reduce((sum, each) => sum + each, 0)
    let last: T | undefined
    for (const [i, each] of weights.entries()) {
      if (each === 0) continue
      last = list[i]
      point -= each
      if (point < 0) break
    }
    return last
  }

  /** A generator of its own, so that the number of draws in one part of a search does not affect the others. */
  fork(): Random {
    return new Random(this.seed())
  }

  /** A seed for another generator. */
  seed(): number {
    return this.#word()
  }

  /** 32 random bits, unsigned. */
  #word(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }
}
