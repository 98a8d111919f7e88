import type { RoundTrips } from './round-trips.ts'

/** Segments that may be under way at first, and again after a silence (RFC 6928). */
const initialSegments = 10
/** Segments that may be under way at most: Linux lets a socket buffer 4 MiB (`tcp_wmem`, `tcp_rmem`). */
const segmentsMax = 2900
/** How much of its window a flow keeps when something was lost (CUBIC, RFC 9438). */
const keptShare = 0.7
/** CUBIC's constant, in segments a second cubed. */
const growth = 0.4
/** Segments that it grows by in a round trip at least, as fast as TCP without CUBIC would (RFC 9438, 4.3). */
const friendly = (3 * (1 - keptShare)) / (1 + keptShare)

/** HyStart (Ha and Rhee, 2008), as Linux has it: from so many segments on, by so many round trips, by acknowledgements so near. */
const hystart = { segments: 16, samples: 8, gapMs: 2 }

/** How many segments a sender lets be under way: slow start, HyStart, CUBIC. */
export class SendWindow {
  #segments = initialSegments
  #threshold = Number.POSITIVE_INFINITY
  /** Whether more would be sent if it were larger: else it does not grow. */
  isLimiting = false
  /** The window that it aims at, since when, and after how many seconds it gets there (CUBIC's W_max, epoch and K). */
  #aim = 0
  #aimedMs = 0
  #aimS = 0
  /** What was sent before this was is of the window before the last cut. */
  #cutOrder = 0
  #round = { end: -1, begunMs: 0, ackMs: 0, least: Number.POSITIVE_INFINITY, samples: 0 }

  get segments(): number {
    return Math.floor(this.#segments)
  }

  /** So many segments arrived, of which the last sent was this. */
  acknowledged(count: number, newest: number, atMs: number, roundTrips: RoundTrips): void {
    if (newest < this.#cutOrder) return
    const isSlowStart = this.#segments < this.#threshold
    if (isSlowStart) this.#lookWhetherToEndSlowStart(newest, atMs, roundTrips)
    if (!this.isLimiting) return
    for (let each = 0; each < count; each++) this.#grow(atMs, roundTrips.least)
  }

  /** Something that was sent so was lost: at most once in a window. */
  cut(order: number, sent: number, atMs: number): void {
    if (order < this.#cutOrder) return
    this.#cutOrder = sent
    // Whoever was cut before it had its old window again gives way to others (fast convergence).
    const before = this.#segments < this.#aim ? (this.#segments * (1 + keptShare)) / 2 : this.#segments
    this.#segments = Math.max(2, this.#segments * keptShare)
    this.#threshold = this.#segments
    this.#aimFor(before, atMs, Math.cbrt(Math.max(0, before - this.#segments) / growth))
  }

  /** Nothing was heard: it begins with one segment. */
  timedOut(sent: number): void {
    this.#cutOrder = sent
    this.#segments = 1
  }

  /** After a silence. */
  beginAgain(): void {
    this.#segments = Math.min(this.#segments, initialSegments)
  }

  #grow(atMs: number, roundTripMs: number): void {
    if (this.#segments < this.#threshold) this.#segments += 1
    else {
      const seconds = (atMs + roundTripMs - this.#aimedMs) / 1000
      const cubic = growth * (seconds - this.#aimS) ** 3 + this.#aim
      this.#segments += Math.min(Math.max(friendly, cubic - this.#segments) / this.#segments, 0.5)
    }
    this.#segments = Math.min(this.#segments, segmentsMax)
  }

  #aimFor(segments: number, sinceMs: number, inS: number): void {
    this.#aim = segments
    this.#aimedMs = sinceMs
    this.#aimS = inS
  }

  /** Where acknowledgements of one round come for half a round trip without a gap, or round trips grow. */
  #lookWhetherToEndSlowStart(newest: number, atMs: number, { last, least }: RoundTrips): void {
    const round = this.#round
    if (newest > round.end) {
      this.#round = { end: newest + this.segments, begunMs: atMs, ackMs: atMs, least: last, samples: 1 }
      return
    }
    if (round.samples < hystart.samples) {
      round.least = Math.min(round.least, last)
      round.samples += 1
    }
    if (this.#segments < hystart.segments) return
    if (atMs - round.ackMs <= hystart.gapMs) {
      round.ackMs = atMs
      if (atMs - round.begunMs > least / 2) return this.#endSlowStart(atMs)
    }
    const later = Math.min(Math.max(least / 8, 4), 16)
    if (round.samples >= hystart.samples && round.least > least + later) this.#endSlowStart(atMs)
  }

  #endSlowStart(atMs: number): void {
    this.#threshold = this.#segments
    this.#aimFor(this.#segments, atMs, 0)
  }
}
