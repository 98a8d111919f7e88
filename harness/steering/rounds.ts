/** When searches beside a run begin: at intervals in ms of the run's clock, and later while a client is in a call. */
export class Rounds {
  readonly #everyMs: number
  readonly #waitsForCalls: boolean
  #nextMs: number

  /** @param waitsForCalls whether a round waits until no client is in a call, at most until the next one is due */
  constructor(everyMs: number, waitsForCalls: boolean) {
    this.#everyMs = everyMs
    this.#waitsForCalls = waitsForCalls
    this.#nextMs = everyMs
  }

  /** When the next one is due, unless it waits. */
  get nextMs(): number {
    return this.#nextMs
  }

  isDue(atMs: number, isInCall: () => boolean): boolean {
    if (atMs < this.#nextMs) return false
    return atMs >= this.#nextMs + this.#everyMs || !this.#waitsForCalls || !isInCall()
  }

  /** Call it when a round begins. */
  begin(atMs: number): void {
    while (this.#nextMs <= atMs) this.#nextMs += this.#everyMs
  }
}
