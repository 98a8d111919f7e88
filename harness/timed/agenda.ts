import FlatQueue from 'flatqueue'
import type { Copied, Copies } from './copies.ts'

/** Something to do at a time. */
export interface Entry extends Copied {
  do(atMs: number): void
}

/** Calls a method of an object with the time. */
export class CallOf<Name extends string, Target extends Copied & Record<Name, (atMs: number) => void>>
  implements Entry
{
  readonly #target: Target
  readonly #name: Name

  constructor(target: Target, name: Name) {
    this.#target = target
    this.#name = name
  }

  copy(copies: Copies): CallOf<Name, Target> {
    return new CallOf(copies.of(this.#target), this.#name)
  }

  do(atMs: number): void {
    this.#target[this.#name](atMs)
  }
}

/** Entries to do in virtual time, earliest first. Equal entries in equal order are done in equal order. */
export class Agenda implements Copied {
  readonly #queue = new FlatQueue()
  readonly #entries: (Entry | undefined)[] = []
  readonly #free: number[] = []
  #nowMs = 0

  copy(copies: Copies): Agenda {
    const made = copies.note(this, new Agenda())
    const { ids, values, length } = this.#queue
    made.#queue.ids = ids.slice(0, length)
    made.#queue.values = values.slice(0, length)
    made.#queue.length = length
    for (const entry of this.#entries) made.#entries.push(entry && copies.of(entry))
    made.#free.push(...this.#free)
    made.#nowMs = this.#nowMs
    return made
  }

  /** The time of the last entry done. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** The time of the next entry; Infinity if there is none. */
  get dueMs(): number {
    return this.#queue.peekValue() ?? Number.POSITIVE_INFINITY
  }

  at(ms: number, entry: Entry): void {
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
    const entry = this.#entries[slot]!
    this.#entries[slot] = undefined
    this.#free.push(slot)
    this.#nowMs = Math.max(this.#nowMs, atMs)
    entry.do(atMs)
  }

  /** Carries out all entries that are due until this time, ms. */
  doUntil(ms: number): void {
    while (this.hasUntil(ms)) this.doNext()
  }
}
