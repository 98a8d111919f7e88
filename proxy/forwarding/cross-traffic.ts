/** Traffic of others that passes a pipe. It takes bandwidth and places in the queue, and yields to nobody. */
export interface CrossSettings {
  /** Bits a second in the mean; 0 for none. */
  readonly bandwidth: number
  /** Size of each packet; 1,000 by default. */
  readonly bytes?: number
  /** How many packets come at once; 1 by default. */
  readonly burst?: number
}

/** Length of a packet of cross traffic in bytes, with its header. */
const bytesByDefault = 1000
/**
 * Bursts at most that are drawn for a time in which no packet came. Fewer would begin with a queue that is too short at
 * high load; more would delay the packet that comes.
 */
const burstsMax = 2000

/** Bursts of equal packets by a Poisson process. They are drawn when the next packet comes, so that an idle pipe costs nothing. */
export class CrossTraffic {
  readonly #settings: CrossSettings
  readonly #bytes: number
  readonly #burst: number
  readonly #meanGapMs: number
  #random: () => number
  #nextMs: number

  /** @param sinceMs when it begins; by default it has always been there */
  constructor(settings: CrossSettings, random: () => number, sinceMs = Number.NEGATIVE_INFINITY) {
    const { bandwidth, bytes = bytesByDefault, burst = 1 } = settings
    this.#settings = settings
    this.#bytes = bytes
    this.#burst = burst
    this.#meanGapMs = (burst * bytes * 8000) / bandwidth
    this.#random = random
    this.#nextMs = sinceMs + this.#gapMs()
  }

  /** Another one in the same state. @param random its random numbers from now on */
  copy(random: () => number): CrossTraffic {
    // The constructor draws a gap, which is not one of the numbers to come.
    const made = new CrossTraffic(this.#settings, () => 0)
    made.#random = random
    made.#nextMs = this.#nextMs
    return made
  }

  /** Calls `enter` for each packet that arrives until `now`, ms. */
  until(now: number, enter: (atMs: number, bytes: number) => void): void {
    const earliest = now - burstsMax * this.#meanGapMs
    // A Poisson process has no memory, so it may begin anywhere.
    if (this.#nextMs < earliest) this.#nextMs = earliest + this.#gapMs()
    for (; this.#nextMs <= now; this.#nextMs += this.#gapMs())
      for (let packet = 0; packet < this.#burst; packet++) enter(this.#nextMs, this.#bytes)
  }

  #gapMs(): number {
    return -Math.log(1 - this.#random()) * this.#meanGapMs
  }
}
