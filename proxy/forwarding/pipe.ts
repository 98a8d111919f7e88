import { ControlledDelay } from './codel.ts'
import type { EarlyDrop } from './early-drop.ts'
import { RandomEarlyDetection } from './red.ts'

/** What happens to packets in one direction, as a topology's pipe has it, and more. */
export interface PipeSettings {
  /** Propagation in milliseconds. */
  readonly delayMs: number
  /** The delay varies uniformly by up to so many milliseconds, more or less; packets stay in order. */
  readonly jitterMs?: number
  /** Bits a second; without limit where absent. */
  readonly bandwidth?: number
  /** What may wait for bandwidth, beside what is being sent; without limit where absent. */
  readonly queue?: ({ readonly packets: number } | { readonly bytes: number }) & {
    /** Who is dropped: whoever finds it full where absent; by RED or CoDel others before, so that it does not fill. */
    readonly discipline?: 'droptail' | 'red' | 'codel'
  }
  /** Probability that a packet is lost, in [0, 1]; 0 where absent, as those below. */
  readonly loss?: number
  /** Probability that a packet comes twice. */
  readonly duplicate?: number
  /** Probability that a packet is not delayed, and so overtakes those before it. */
  readonly reorder?: number
  /** Probability that one bit of a packet is another. */
  readonly corrupt?: number
}

/** What became of a packet that did not come through. */
export const lost = -1
export const overflowed = -2

/** Times that are no later than this one after another count as two. */
const instant = 1e-6

/** One direction of a link, on real time: it tells when a packet comes out of it. Times are milliseconds of one clock. */
export class Pipe {
  readonly settings: PipeSettings
  readonly #random: () => number
  /** When all that was taken in has been sent. */
  #freeAt = Number.NEGATIVE_INFINITY
  /** When the last packet comes out. */
  #lastOut = Number.NEGATIVE_INFINITY
  /** When the last packets were sent, as many as may be in a queue of packets and one; the oldest is next. */
  readonly #sent: Float64Array | undefined
  #next = 0
  readonly #early: EarlyDrop | undefined

  constructor(settings: PipeSettings, random: () => number) {
    this.settings = settings
    this.#random = random
    if (settings.queue && 'packets' in settings.queue)
      this.#sent = new Float64Array(settings.queue.packets + 1).fill(Number.NEGATIVE_INFINITY)
    if (settings.queue?.discipline === 'red') this.#early = new RandomEarlyDetection(random)
    if (settings.queue?.discipline === 'codel') this.#early = new ControlledDelay()
  }

  /** When a packet that arrives now comes out: `lost` or `overflowed` where it never does. */
  enter(now: number, bytes: number): number {
    const { delayMs, jitterMs = 0, bandwidth, loss = 0, reorder = 0 } = this.settings
    if (loss > 0 && this.#random() < loss) return lost
    let sentAt = now
    if (bandwidth !== undefined) {
      const sendMs = (bytes * 8000) / bandwidth
      if (this.#isFull(now, bytes, bandwidth)) return overflowed
      const waitMs = Math.max(0, this.#freeAt - now)
      if (this.#early?.drops(now, this.#share(now, bandwidth), waitMs, sendMs)) return overflowed
      sentAt = now + waitMs + sendMs
      this.#freeAt = sentAt
      if (this.#sent) {
        this.#sent[this.#next] = sentAt
        this.#next = (this.#next + 1) % this.#sent.length
      }
    }
    if (reorder > 0 && this.#random() < reorder) return sentAt
    const jitter = jitterMs > 0 ? (2 * this.#random() - 1) * jitterMs : 0
    const out = Math.max(sentAt + Math.max(0, delayMs + jitter), this.#lastOut + instant)
    this.#lastOut = out
    return out
  }

  isDuplicated(): boolean {
    const { duplicate = 0 } = this.settings
    return duplicate > 0 && this.#random() < duplicate
  }

  /** The bit of so many that is turned over; undefined for none. */
  corruptedBit(bits: number): number | undefined {
    const { corrupt = 0 } = this.settings
    return corrupt > 0 && this.#random() < corrupt ? Math.floor(this.#random() * bits) : undefined
  }

  #isFull(now: number, bytes: number, bandwidth: number): boolean {
    const { queue } = this.settings
    if (queue === undefined || this.#freeAt <= now) return false
    if (this.#sent) return this.#sent[this.#next]! > now
    return this.#waitingBytes(now, bandwidth) + bytes > (queue as { readonly bytes: number }).bytes
  }

  #waitingBytes(now: number, bandwidth: number): number {
    return (Math.max(0, this.#freeAt - now) * bandwidth) / 8000
  }

  /** How much of its queue is full. */
  #share(now: number, bandwidth: number): number {
    const { queue } = this.settings
    if (this.#sent) return Math.max(0, laterThan(this.#sent, this.#next, now) - 1) / (this.#sent.length - 1)
    return this.#waitingBytes(now, bandwidth) / (queue as { readonly bytes: number }).bytes
  }
}

/** How many of these times, which increase from the oldest at `start` on, are later than now. */
const laterThan = (times: Float64Array, start: number, now: number): number => {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (times[(start + middle) % times.length]! > now) high = middle
    else low = middle + 1
  }
  return times.length - low
}

/** Whether packets pass it by themselves, one as the other: only then may many be one large packet. */
export const treatsAllAlike = ({
  bandwidth,
  loss = 0,
  duplicate = 0,
  reorder = 0,
  corrupt = 0,
}: PipeSettings): boolean => bandwidth === undefined && loss + duplicate + reorder + corrupt === 0
