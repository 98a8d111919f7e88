import { TopologyError } from '../error.ts'
import { below, type Random } from '../random.ts'
import type { ChurnEvent, ChurnPlan, Manner } from './plan.ts'

/** Whose churn is planned, and within which bounds. */
export interface ChurnSetting {
  readonly nodes: readonly string[]
  /** So many of them, the first, are there from the start. */
  readonly initial: number
  /** Bounds of how many are there: what would break them does not happen. All, and none, where absent. */
  readonly atLeast?: number
  readonly atMost?: number
  /** The plan ends after so many milliseconds. */
  readonly forMs: number
  /** Each leave is in a manner drawn from these. */
  readonly manners: readonly Manner[]
  readonly seed: number
}

/** Who is there while a plan is made, within the bounds, and what has happened. */
export class Population {
  readonly #setting: ChurnSetting
  readonly #random: Random
  readonly #present: string[]
  readonly #absent: string[]
  readonly #events: ChurnEvent[] = []

  /** Throws a `TopologyError` for bounds that cannot be kept. */
  constructor(setting: ChurnSetting, random: Random) {
    const { nodes, initial, atLeast = 0, atMost = nodes.length } = setting
    if (!(0 <= atLeast && atLeast <= initial && initial <= atMost && atMost <= nodes.length)) {
      throw new TopologyError(
        `expected 0 <= atLeast <= initial <= atMost <= nodes, found ${atLeast}, ${initial}, ${atMost}, ${nodes.length}`,
      )
    }
    if (setting.manners.length === 0) throw new TopologyError('manners: expected at least one, found none')
    this.#setting = setting
    this.#random = random
    this.#present = nodes.slice(0, initial)
    this.#absent = nodes.slice(initial)
  }

  has(node: string): boolean {
    return this.#present.includes(node)
  }

  /** A node joins: the one given, or any that is away. The node, or `undefined` where the bounds forbid it. */
  join(atMs: number, node = this.#any(this.#absent)): string | undefined {
    const { nodes, atMost = nodes.length } = this.#setting
    if (node === undefined || this.#present.length >= atMost) return undefined
    move(node, this.#absent, this.#present)
    this.#events.push({ atMs: Math.round(atMs), does: 'join', node })
    return node
  }

  /** A node leaves: the one given, or any that is there. The node, or `undefined` where the bounds forbid it. */
  leave(atMs: number, node = this.#any(this.#present)): string | undefined {
    if (node === undefined || this.#present.length <= (this.#setting.atLeast ?? 0)) return undefined
    move(node, this.#present, this.#absent)
    this.#events.push({ atMs: Math.round(atMs), does: 'leave', node, manner: this.#any(this.#setting.manners)! })
    return node
  }

  plan(): ChurnPlan {
    const { nodes, initial } = this.#setting
    return { nodes, initial: nodes.slice(0, initial), events: this.#events }
  }

  #any<T>(list: readonly T[]): T | undefined {
    return list[below(this.#random, list.length)]
  }
}

const move = (node: string, from: string[], to: string[]) => {
  from.splice(from.indexOf(node), 1)
  to.push(node)
}
