import FlatQueue from 'flatqueue'

/** Entries to do in virtual time, earliest first. Equal entries in equal order are done in equal order. */
export class Agenda {
  readonly #queue = new FlatQueue()
  readonly #entries: ((atMs: number) => void)[] = []
  readonly #free: number[] = []
  #nowMs = 0

  /** The time of the last entry done. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** The time of the next entry; Infinity if there is none. */
  get dueMs(): number {
    return this.#queue.peekValue() ?? Number.POSITIVE_INFINITY
  }

  at(ms: number, entry: (atMs: number) => void): void {
    const slot = this.#free.pop() ?? this.#entries.length
    this.#entries[slot] = entry
    this.#queue.push(slot, ms)
  }

  /** Whether an entry is due until then. */
  hasUntil(ms: number): boolean {
    return this.#queue.length > 0 && this.dueMs <= ms
  }

  /** Does the next entry, which must exist. */
  doNext(): void {
    const atMs = this.dueMs
    const slot = this.#queue.pop()!
    this.#free.push(slot)
    this.#nowMs = Math.max(this.#nowMs, atMs)
    this.#entries[slot]!(atMs)
  }

  /** Does all entries that are due until then. */
  doUntil(ms: number): void {
    while (this.hasUntil(ms)) this.doNext()
  }
}
