/** Share of the time that is left for recording what was found, and its limits in milliseconds. */
const recordingShare = 1 / 10
const [recordingMsMin, recordingMsMax] = [200, 10_000]

/** The time of a check, from its beginning. Without a limit, everything has as much as it needs. */
export class CheckTime {
  readonly #begun = performance.now()
  readonly #milliseconds: number

  constructor(milliseconds: number | undefined) {
    this.#milliseconds = milliseconds ?? Number.POSITIVE_INFINITY
  }

  /** Time left for the whole check, in milliseconds; negative once it is over. */
  get left(): number {
    return this.#milliseconds - (performance.now() - this.#begun)
  }

  /** What is left to search and to examine: not the time to record what was found. At least a millisecond. */
  get leftToSearch(): number | undefined {
    if (this.recordingMs === undefined) return undefined
    return Math.max(1, this.left - this.recordingMs)
  }

  /** Time kept free to record what was found, in milliseconds. */
  get recordingMs(): number | undefined {
    if (this.#milliseconds === Number.POSITIVE_INFINITY) return undefined
    return Math.min(Math.max(recordingMsMin, recordingShare * this.#milliseconds), recordingMsMax)
  }

  /** Seconds since the beginning. */
  get seconds(): number {
    return (performance.now() - this.#begun) / 1000
  }
}
