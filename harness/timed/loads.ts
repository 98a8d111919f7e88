/** What one direction of a link has carried since the start. */
export interface LinkTotal {
  /** Ends of the link: nodes of the system, or of the topology. */
  readonly from: string
  readonly to: string
  /** Bits a second; undefined for a link without limit. */
  readonly bandwidth: number | undefined
  readonly bytes: number
}

/** What a direction of a link carried from one look to the next. */
export interface LinkLoad {
  readonly atMs: number
  readonly from: string
  readonly to: string
  readonly bytes: number
  /** Share of its bandwidth; null for a link without limit. */
  readonly load: number | null
}

/**
 * The loads of links over the time of a run. At the paces of time, packets are followed to the next step, so what they add
 * may count for the look before it.
 */
export class Loads {
  /** In the order of time; nothing of a link that carried nothing. */
  readonly all: LinkLoad[] = []
  readonly looksMs: number[] = []
  #before: readonly LinkTotal[] = []

  looked(atMs: number, carried: readonly LinkTotal[]): void {
    const seconds = (atMs - (this.looksMs.at(-1) ?? 0)) / 1000
    for (const [index, { from, to, bandwidth, bytes: soFar }] of carried.entries()) {
      const bytes = soFar - (this.#before[index]?.bytes ?? 0)
      if (bytes === 0) continue
      const load = bandwidth === undefined ? null : (bytes * 8) / (bandwidth * seconds)
      this.all.push({ atMs, from, to, bytes, load })
    }
    this.looksMs.push(atMs)
    this.#before = carried
  }

  /** Those of the last look, the busiest first. */
  get last(): readonly LinkLoad[] {
    const last = this.looksMs.at(-1)
    const first = this.all.findLastIndex(({ atMs }) => atMs !== last) + 1
    return this.all.slice(first).sort((one, other) => (other.load ?? 0) - (one.load ?? 0) || other.bytes - one.bytes)
  }
}
