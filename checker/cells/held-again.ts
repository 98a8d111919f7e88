import { propertySight } from '../system/subjects.ts'
import type { Sight } from '../system/system.ts'

/** What is known of it up to a state. */
export interface HeldAgainMark {
  readonly downSince: ReadonlyMap<string, ReadonlySet<string>>
  readonly counts: ReadonlyMap<string, number>
}

/**
 * How often liveness properties came to hold in one execution after they had been false, and whether a node had ended by
 * then: a node that is down has no state, so its end makes many a property true.
 */
export class HeldAgain {
  /** By property that is false now: the nodes that were down in all states since it became false. */
  readonly #downSince: Map<string, ReadonlySet<string>>
  /** By name of the sight. */
  readonly #counts: Map<string, number>

  constructor({ downSince, counts }: HeldAgainMark = { downSince: new Map(), counts: new Map() }) {
    this.#downSince = new Map(downSince)
    this.#counts = new Map(counts)
  }

  /** Sees whether a property holds in the next state. */
  see(property: string, holds: boolean, down: () => readonly string[]): void {
    const before = this.#downSince.get(property)
    if (!holds) {
      const now = down()
      this.#downSince.set(property, new Set(before ? now.filter(node => before.has(node)) : now))
      this.#counts.set(propertySight.wasFalse(property), 1)
      return
    }
    if (before === undefined) return
    this.#downSince.delete(property)
    this.#count(propertySight.again(property))
    const ended = down().filter(node => !before.has(node))
    if (ended.length > 0) this.#count(propertySight.againAfterEnd(property))
    for (const node of ended) this.#count(propertySight.againAfterEndOf(property, node))
  }

  sights(): Sight[] {
    return [...this.#counts].map(([what, count]) => ({ what, count }))
  }

  mark(): HeldAgainMark {
    return { downSince: new Map(this.#downSince), counts: new Map(this.#counts) }
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }
}
