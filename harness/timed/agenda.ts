import FlatQueue from 'flatqueue'

/** What is to be done in virtual time, the earliest first; the same entries in the same order are done in the same order. */
export class Agenda {
  readonly #queue = new FlatQueue()
  readonly #entries: ((atMs: number) => void)[] = []
  readonly #free: number[] = []
  #nowMs = 0

  /** The time of the last entry that was done. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** When the next entry is to be done; Infinity where there is none. */
  get dueMs(): number {
    return this.#queue.peekValue() ?? Number.POSITIVE_INFINITY
  }

  at(ms: number, entry: (atMs: number) => void): void {
    const slot = this.#free.pop() ?? this.#entries.length
    this.#entries[slot] = entry
    this.#queue.push(slot, ms)
  }

  /** Whether something is to be done until then. */
  hasUntil(ms: number): boolean {
    return this.#queue.length > 0 && this.dueMs <= ms
  }

  /** Does the next entry. There must be one. */
  doNext(): void {
    const atMs = this.dueMs
    const slot = this.#queue.pop()!
    this.#free.push(slot)
    this.#nowMs = Math.max(this.#nowMs, atMs)
    this.#entries[slot]!(atMs)
  }

  /** Does all that is to be done until then. */
  doUntil(ms: number): void {
    while (this.hasUntil(ms)) this.doNext()
  }
}
