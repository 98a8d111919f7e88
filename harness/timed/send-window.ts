import type { RoundTrips } from './round-trips.ts'

/**
 * Segments in flight at first, and again after a silence (RFC 6928). More would make short transfers faster than real
 * ones.
 */
const segmentsAtFirst = 10
/** Upper limit of segments in flight: Linux lets a socket buffer 4 MiB (`tcp_wmem`, `tcp_rmem`). */
const segmentsMax = 2900
/** The share of its window that a flow keeps after a loss (CUBIC, RFC 9438). */
const keptShare = 0.7
/** CUBIC's constant, in segments a second cubed. */
const growth = 0.4
/** Least growth per round trip, in segments: as fast as TCP without CUBIC (RFC 9438, 4.3). */
const friendly = (3 * (1 - keptShare)) / (1 + keptShare)

/**
 * HyStart (Ha and Rhee, 2008) as in Linux: it applies from `segments` on, judges by `samples` round trips, and counts
 * acknowledgements as one train if they are at most `gapMs` apart.
 */
const hystart = { segments: 16, samples: 8, gapMs: 2 }

/** How many segments a sender may have in flight: slow start, HyStart, CUBIC. */
export class SendWindow {
  #segments = segmentsAtFirst
  #segmentsEver = segmentsAtFirst
  #threshold = Number.POSITIVE_INFINITY
  /** Whether a larger window would send more. Otherwise the window does not grow. */
  isLimiting = false
  /** The target window, when it was set, and the seconds until it is reached (CUBIC's W_max, epoch and K). */
  #aim = 0
  #aimedMs = 0
  #aimS = 0
  /** Segments sent before this order belong to the window before the last cut. */
  #cutOrder = 0
  #round = { end: -1, begunMs: 0, ackMs: 0, least: Number.POSITIVE_INFINITY, samples: 0 }

  copy(): SendWindow {
    const made = new SendWindow()
    made.#segments = this.#segments
    made.#segmentsEver = this.#segmentsEver
    made.#threshold = this.#threshold
    made.isLimiting = this.isLimiting
    made.#aim = this.#aim
    made.#aimedMs = this.#aimedMs
    made.#aimS = this.#aimS
    made.#cutOrder = this.#cutOrder
    made.#round = { ...this.#round }
    return made
  }

  get segments(): number {
    return Math.floor(this.#segments)
  }

  /** The most that it ever was. */
  get segmentsEver(): number {
    return Math.floor(this.#segmentsEver)
  }

  /** This many segments arrived; `newest` is the latest sending among them. */
  acknowledged(count: number, newest: number, atMs: number, roundTrips: RoundTrips): void {
    if (newest < this.#cutOrder) return
    const isSlowStart = this.#segments < this.#threshold
    if (isSlowStart) this.#lookWhetherToEndSlowStart(newest, atMs, roundTrips)
    if (!this.isLimiting) return
    for (let each = 0; each < count; each++) this.#grow(atMs, roundTrips.least)
  }

  /** A segment with this order was lost. The window is cut at most once per window. */
  cut(order: number, sent: number, atMs: number): void {
    if (order < this.#cutOrder) return
    this.#cutOrder = sent
    // A flow that is cut before it regained its old window yields to others (fast convergence).
    const before = this.#segments < this.#aim ? (this.#segments * (1 + keptShare)) / 2 : this.#segments
    this.#segments = Math.max(2, this.#segments * keptShare)
    this.#threshold = this.#segments
    this.#aimFor(before, atMs, Math.cbrt(Math.max(0, before - this.#segments) / growth))
  }

  /** A time-out: start again with one segment. */
  timedOut(sent: number): void {
    this.#cutOrder = sent
    this.#segments = 1
  }

  /** Sending resumes after a silence. */
  beginAgain(): void {
    this.#segments = Math.min(this.#segments, segmentsAtFirst)
  }

  #grow(atMs: number, roundTripMs: number): void {
    if (this.#segments < this.#threshold) this.#segments += 1
    else {
      const seconds = (atMs + roundTripMs - this.#aimedMs) / 1000
      const cubic = growth * (seconds - this.#aimS) ** 3 + this.#aim
      this.#segments += Math.min(Math.max(friendly, cubic - this.#segments) / this.#segments, 0.5)
    }
    this.#segments = Math.min(this.#segments, segmentsMax)
    this.#segmentsEver = Math.max(this.#segmentsEver, this.#segments)
  }

  #aimFor(segments: number, sinceMs: number, inS: number): void {
    this.#aim = segments
    this.#aimedMs = sinceMs
    this.#aimS = inS
  }

  /** Ends slow start if a train of acknowledgements lasts half a round trip without a gap, or round trips grow. */
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
