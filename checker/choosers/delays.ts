import { wayOf } from '../system/likeness.ts'
import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'

/** The longest one-way delay of a walk's network, in milliseconds: one rack, a country, the world, an overloaded one. */
const slowestMs = [0.1, 10, 100, 1_000] as const

/** How long each message takes: the delay of its way, a tenth more or less, and what its connection holds back. */
export class Delays {
  readonly #random: Random
  readonly #slowestMs: number
  readonly #ways = new Map<string, number>()
  /** Until when a connection of `#node` holds back what it carries; 0 where it does not. */
  #untilMs = new Map<string, number>()
  #node: string | undefined
  #share = 0

  constructor(random: Random) {
    this.#random = random
    this.#slowestMs = random.pick(slowestMs)
  }

  /** From now on some connections of this node hold back for seconds what they carry; those of another node do no more. */
  holdBack(node: string): void {
    this.#node = node
    this.#share = this.#random.pick(shares)
    this.#untilMs = new Map()
  }

  /** Of a message that is in flight from `nowMs` on. */
  ofMs(choice: Choice, nowMs: number): number {
    const way = wayOf(choice)
    if (!this.#ways.has(way)) this.#ways.set(way, this.#random.between(this.#slowestMs / 20, this.#slowestMs))
    const own = this.#ways.get(way)! * (0.9 + this.#random.next() / 5)
    return Math.max(own, this.#heldUntilMs(choice, nowMs) - nowMs)
  }

  #heldUntilMs({ from, to, connection }: Choice, nowMs: number): number {
    if (this.#node === undefined || (from !== this.#node && to !== this.#node)) return 0
    const name = `${from}→${to} ${connection ?? ''}`
    if (!this.#untilMs.has(name)) {
      const isHeld = this.#random.next() < this.#share
      this.#untilMs.set(name, isHeld ? nowMs + this.#random.between(500, 16_000) : 0)
    }
    return this.#untilMs.get(name)!
  }
}

/** Which share of the connections of a node is held back. */
const shares = [0, 0.25, 0.5, 0.75] as const
