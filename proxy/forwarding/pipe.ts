import { ControlledDelay } from './codel.ts'
import { type CrossSettings, CrossTraffic } from './cross-traffic.ts'
import type { EarlyDrop } from './early-drop.ts'
import { RandomEarlyDetection } from './red.ts'

/** The treatment of packets in one direction: a topology's pipe, and more. */
export interface PipeSettings {
  /** Propagation delay in milliseconds. */
  readonly delayMs: number
  /** The delay varies uniformly by up to this many milliseconds, up and down. Packets stay in order. */
  readonly jitterMs?: number
  /** Bits a second; unlimited if absent. */
  readonly bandwidth?: number
  /** Limit on what may wait for bandwidth, besides the packet being sent; unlimited if absent. */
  readonly queue?: ({ readonly packets: number } | { readonly bytes: number }) & {
    /**
     * Which packets are dropped: by default those that find it full; RED and CoDel drop others earlier, so that it does
     * not fill.
     */
    readonly discipline?: 'droptail' | 'red' | 'codel'
  }
  /** Traffic of others that shares bandwidth and queue; none by default. */
  readonly cross?: CrossSettings
  /** Probability that a packet is lost, from 0 to 1. This and the following are 0 by default. */
  readonly loss?: number
  /** Probability that a packet arrives twice. */
  readonly duplicate?: number
  /** Probability that a packet is not delayed and so overtakes those before it. */
  readonly reorder?: number
  /** Probability that one bit of a packet is flipped. */
  readonly corrupt?: number
}

/** Results for a packet that the pipe drops. */
export const lost = -1
export const overflowed = -2

/** Times closer than this, in ms, count as equal: rounding errors are smaller. */
const instant = 1e-6

/** One direction of a link in real time. It tells when a packet comes out. Times are milliseconds of one clock. */
export class PacketPipe {
  #settings: PipeSettings
  readonly #random: () => number
  /** When everything that was accepted will have been sent. */
  #freeAt = Number.NEGATIVE_INFINITY
  /** When the latest packet comes out. */
  #lastOut = Number.NEGATIVE_INFINITY
  /** See `#sent`. A large network has a million pipes, and most carry nothing, so each has its memory from its first packet on. */
  #times: Float64Array | undefined
  #next = 0
  #early: EarlyDrop | undefined
  #cross: CrossTraffic | undefined
  readonly #carried: Float64Array | undefined
  readonly #index: number
  readonly #enterCross = (at: number, bytes: number) => void this.#send(at, bytes)

  /**
   * @param carried where it adds the bytes of packets that it took and did not drop, at its index: memory that another thread
   * may read. Without it they are not counted
   */
  constructor(settings: PipeSettings, random: () => number, carried?: Float64Array, index = 0) {
    this.#settings = settings
    this.#random = random
    this.#carried = carried
    this.#index = index
    this.#early = earlyDropOf(settings, random)
    this.#cross = crossOf(settings, random)
  }

  /**
   * Another one in the same state.
   *
   * @param random its random numbers from now on
   *
   * @param carried a copy of what all have carried
   */
  copy(random: () => number, carried?: Float64Array): PacketPipe {
    const made = new PacketPipe({ delayMs: 0 }, random, carried, this.#index)
    made.#settings = this.#settings
    made.#freeAt = this.#freeAt
    made.#lastOut = this.#lastOut
    made.#times = this.#times?.slice()
    made.#next = this.#next
    made.#early = this.#early?.copy(random)
    made.#cross = this.#cross?.copy(random)
    return made
  }

  get settings(): PipeSettings {
    return this.#settings
  }

  /** When the latest packets were sent, as many as the queue holds plus one, if it holds packets. The oldest is next. */
  get #sent(): Float64Array | undefined {
    this.#times ??= emptyQueue(this.#settings)
    return this.#times
  }

  /** Changes the settings for packets that enter from now on. Packets within the pipe leave it as they would have. */
  change(settings: PipeSettings, now: number): void {
    this.#cross?.until(now, this.#enterCross)
    this.#cross = crossOf(settings, this.#random, now)
    const times = this.#times
    const before = times ? [...times.subarray(this.#next), ...times.subarray(0, this.#next)] : []
    if (settings.queue?.discipline !== this.#settings.queue?.discipline)
      this.#early = earlyDropOf(settings, this.#random)
    this.#settings = settings
    this.#times = undefined
    this.#next = 0
    if (before.length === 0) return
    const sent = this.#sent
    if (sent) sent.set(before.slice(-sent.length), Math.max(0, sent.length - before.length))
  }

  /** When a packet that arrives now comes out, or `lost` or `overflowed`. */
  enter(now: number, bytes: number): number {
    const { delayMs, jitterMs = 0, loss = 0, reorder = 0 } = this.settings
    if (loss > 0 && this.#random() < loss) return lost
    this.#cross?.until(now, this.#enterCross)
    const sentAt = this.#send(now, bytes)
    if (sentAt === overflowed) return overflowed
    if (this.#carried) this.#carried[this.#index]! += bytes
    if (reorder > 0 && this.#random() < reorder) return sentAt
    const jitter = jitterMs > 0 ? (2 * this.#random() - 1) * jitterMs : 0
    const out = Math.max(sentAt + Math.max(0, delayMs + jitter), this.#lastOut + instant)
    this.#lastOut = out
    return out
  }

  /** When a packet that arrives now will have been sent, or `overflowed`. */
  #send(now: number, bytes: number): number {
    const { bandwidth } = this.settings
    if (bandwidth === undefined) return now
    const sendMs = (bytes * 8000) / bandwidth
    if (this.#isFull(now, bytes, bandwidth)) return overflowed
    const waitMs = Math.max(0, this.#freeAt - now)
    if (this.#early?.drops(now, this.#share(now, bandwidth), waitMs, sendMs)) return overflowed
    const sentAt = now + waitMs + sendMs
    this.#freeAt = sentAt
    const sent = this.#sent
    if (sent) {
      sent[this.#next] = sentAt
      this.#next = (this.#next + 1) % sent.length
    }
    return sentAt
  }

  isDuplicated(): boolean {
    const { duplicate = 0 } = this.settings
    return duplicate > 0 && this.#random() < duplicate
  }

  /** Index of the bit to flip; undefined for none. */
  corruptedBit(bits: number): number | undefined {
    const { corrupt = 0 } = this.settings
    return corrupt > 0 && this.#random() < corrupt ? Math.floor(this.#random() * bits) : undefined
  }

  #isFull(now: number, bytes: number, bandwidth: number): boolean {
    const { queue } = this.settings
    if (queue === undefined || this.#freeAt <= now) return false
    const sent = this.#sent
    if (sent) return sent[this.#next]! > now
    return this.#waitingBytes(now, bandwidth) + bytes > (queue as { readonly bytes: number }).bytes
  }

  #waitingBytes(now: number, bandwidth: number): number {
    return (Math.max(0, this.#freeAt - now) * bandwidth) / 8000
  }

  /** Share of its queue that is full. */
  #share(now: number, bandwidth: number): number {
    const { queue } = this.settings
    const sent = this.#sent
    if (sent) return Math.max(0, laterThan(sent, this.#next, now) - 1) / (sent.length - 1)
    return this.#waitingBytes(now, bandwidth) / (queue as { readonly bytes: number }).bytes
  }
}

/** When as many packets were sent as may be in its queue and one: long ago. */
const emptyQueue = ({ queue }: PipeSettings): Float64Array | undefined =>
  queue && 'packets' in queue ? new Float64Array(queue.packets + 1).fill(Number.NEGATIVE_INFINITY) : undefined

const earlyDropOf = ({ queue }: PipeSettings, random: () => number): EarlyDrop | undefined => {
  if (queue?.discipline === 'red') return new RandomEarlyDetection(random)
  return queue?.discipline === 'codel' ? new ControlledDelay() : undefined
}

/** A pipe without limit has room for all. */
const crossOf = ({ bandwidth, cross }: PipeSettings, random: () => number, sinceMs?: number) =>
  bandwidth !== undefined && cross && cross.bandwidth > 0 ? new CrossTraffic(cross, random, sinceMs) : undefined

/** How many of these times, ascending from the one at `start`, are later than now. */
const laterThan = (times: Float64Array, start: number, now: number): number => {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (times[(start + middle) % times.length]! > now) high = middle
    else low = middle + 1
  }
  return times.length - low
}

/** Whether it treats all packets independently and alike. Only then may one large packet stand for many. */
export const treatsAllAlike = ({
  bandwidth,
  loss = 0,
  duplicate = 0,
  reorder = 0,
  corrupt = 0,
}: PipeSettings): boolean => bandwidth === undefined && loss + duplicate + reorder + corrupt === 0
