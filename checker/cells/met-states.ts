/** Fingerprints of the states of an execution, in order; `undefined` where the system has none. */
export type Fingerprints = readonly (string | undefined)[]

/** Distinct states that executions have met. */
export class MetStates {
  readonly #all = new Set<string>()
  #last: Fingerprints = []

  get size(): number {
    return this.#all.size
  }

  has(fingerprint: string): boolean {
    return this.#all.has(fingerprint)
  }

  /**
   * Adds the states of an execution. Those that it has in common with the one before are not looked up again: of a
   * search from a long run, that is nearly all.
   */
  add(fingerprints: Fingerprints): void {
    let step = 0
    while (step < fingerprints.length && fingerprints[step] === this.#last[step]) step += 1
    for (const fingerprint of fingerprints.slice(step)) if (fingerprint !== undefined) this.#all.add(fingerprint)
    this.#last = fingerprints
  }
}
