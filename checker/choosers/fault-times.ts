import { isFault } from '../happening/kinds.ts'
import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'

/** When faults happen: at any time of the first seconds, and others after it, mostly of the same kind and soon. */
export class FaultTimes {
  readonly #random: Random
  #dueMs: number
  #last: Choice | undefined
  /** When the last one happened. */
  lastMs = 0

  constructor(random: Random) {
    this.#random = random
    this.#dueMs = random.below(firstMs)
  }

  /** The next fault, if it is due before the next step. */
  take(enabled: readonly Choice[], nextMs: number): Choice | undefined {
    if (this.#dueMs > nextMs || nextMs === Number.POSITIVE_INFINITY) return undefined
    const faults = enabled.filter(({ kind }) => isFault(kind))
    if (faults.length === 0) {
      this.#dueMs = nextMs + this.#random.between(10, 1_000)
      return undefined
    }
    this.lastMs = this.#dueMs
    this.#dueMs += this.#random.below(4) > 0 ? this.#random.between(10, 1_000) : this.#random.below(firstMs)
    const kind = this.#kind(faults)
    const ofKind = faults.filter(fault => fault.kind === kind)
    const elsewhere = ofKind.filter(({ node }) => node !== this.#last?.node)
    this.#last = this.#random.pick(elsewhere.length > 0 ? elsewhere : ofKind)
    return this.#last
  }

  #kind(faults: readonly Choice[]): Choice['kind'] {
    const kinds = [...new Set(faults.map(({ kind }) => kind))]
    const last = this.#last?.kind
    return last && kinds.includes(last) && this.#random.below(4) > 0 ? last : this.#random.pick(kinds)
  }
}

/** Time within which the first fault happens, ms of the walk's network. */
const firstMs = 12_000
