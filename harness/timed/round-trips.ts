/** A sender's estimate of the round-trip time (RFC 6298), in milliseconds. */
export class RoundTrips {
  least = Number.POSITIVE_INFINITY
  smooth = 0
  varies = 0
  last = 0

  copy(): RoundTrips {
    return Object.assign(new RoundTrips(), this)
  }

  get isKnown(): boolean {
    return this.least < Number.POSITIVE_INFINITY
  }

  measured(ms: number): void {
    if (this.isKnown) {
      this.varies += (Math.abs(ms - this.smooth) - this.varies) / 4
      this.smooth += (ms - this.smooth) / 8
    } else {
      this.smooth = ms
      this.varies = ms / 2
    }
    this.last = ms
    this.least = Math.min(this.least, ms)
  }
}
