import { wayOf } from '../system/likeness.ts'
import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'

/** Links that are slow for a while: messages on them arrive only after timers that would normally fire later. */
export class SlowWays {
  readonly #random: Random
  readonly #share: number
  readonly #slow = new Map<string, boolean>()

  /** @param share of the links that are slow at a time, from 0 to 1 */
  constructor(random: Random, share: number) {
    this.#random = random
    this.#share = share
  }

  isSlow(choice: Choice): boolean {
    if (this.#share === 0) return false
    const name = wayOf(choice)
    if (!this.#slow.has(name)) this.#slow.set(name, this.#draw())
    return this.#slow.get(name)!
  }

  /** Changes the pace of some links. */
  next(): void {
    for (const name of this.#slow.keys()) if (this.#random.below(4) === 0) this.#slow.set(name, this.#draw())
  }

  #draw(): boolean {
    return this.#random.next() < this.#share
  }
}
