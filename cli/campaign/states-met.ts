/** At about 100 bytes each. */
const defaultMax = 1_000_000

/** The states that a campaign met, by hash, up to a limit on memory. */
export class StatesMet {
  readonly #hashes = new Set<string>()
  readonly #max: number
  #isFull = false

  /** @param max limit on the states that are remembered; later ones are not counted */
  constructor(max = defaultMax) {
    this.#max = max
  }

  add(system: string, fingerprint: string): void {
    const hash = `${system} ${fingerprint}`
    if (this.#hashes.size < this.#max) this.#hashes.add(hash)
    else this.#isFull ||= !this.#hashes.has(hash)
  }

  get count(): number {
    return this.#hashes.size
  }

  /** A line that states were left out, if any were. */
  get note(): string | undefined {
    return this.#isFull ? `more than ${this.#max} states were met: later ones are not counted` : undefined
  }
}
