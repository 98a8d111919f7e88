import { TopologyError } from '../error.ts'
import { below, type UniformRandom } from '../random.ts'
import type { ChurnEvent, ChurnPlan, Manner } from './plan.ts'

/** Nodes whose churn is planned, and its bounds. */
export interface ChurnSetting {
  readonly nodes: readonly string[]
  /** How many of the nodes, from the first, are present from the start. */
  readonly initial: number
  /** Bounds on the number of nodes present. An event that would break them does not happen. By default 0 and all. */
  readonly atLeast?: number
  readonly atMost?: number
  /** Length of the plan in milliseconds. */
  readonly forMs: number
  /** Each leave happens in a manner drawn from these. */
  readonly manners: readonly Manner[]
  readonly seed: number
}

/** Nodes present while a plan is made, within the bounds, and the events so far. */
export class Population {
  readonly #setting: ChurnSetting
  readonly #random: UniformRandom
  readonly #present: string[]
  readonly #absent: string[]
  readonly #events: ChurnEvent[] = []

  /** Throws a `TopologyError` for impossible bounds. */
  constructor(setting: ChurnSetting, random: UniformRandom) {
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

  /** Makes a node join: the given one, or any absent one. Returns the node, or `undefined` if the bounds forbid it. */
  join(atMs: number, node = this.#any(this.#absent)): string | undefined {
    const { nodes, atMost = nodes.length } = this.#setting
    if (node === undefined || this.#present.length >= atMost) return undefined
    move(node, this.#absent, this.#present)
    this.#events.push({ atMs: Math.round(atMs), does: 'join', node })
    return node
  }

  /**
   * Makes a node leave: the given one, or any present one. Returns the node, or `undefined` if the bounds forbid it.
   */
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
