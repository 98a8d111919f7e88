import type { HeldNode } from './held-node.ts'

/** Why nodes did not become quiescent. */
export interface Unsettled {
  readonly node: HeldNode
  /** CPU time that it used; undefined if it spins and nothing will ever end that. */
  readonly cpuMs: number | undefined
  /** Ordinal of the thread that spins. */
  readonly spinner?: number
}

/**
 * Share of the limit at which usage is first checked. Most steps end before that, and a check costs as much as a step.
 */
const firstLook = 1 / 50
const betweenLooks = 1 / 8
/**
 * A node that neither sleeps nor computes, for example one that waits for a disk, is given up after this many times its
 * CPU limit.
 */
const stuckFactor = 30

/** Tells whether one of some nodes computes for longer than allowed, counted from construction. */
export class CpuLimit {
  readonly #nodes: readonly HeldNode[]
  readonly #msMax: number
  readonly #begun = performance.now()
  #looked = this.#begun
  /** CPU time of each at the first check. */
  #usedBefore: readonly number[] | undefined

  constructor(nodes: readonly HeldNode[], msMax: number) {
    this.#nodes = nodes
    this.#msMax = msMax
  }

  /** The node that exceeds the limit, and what it has used. Call it repeatedly. */
  exceeding(): Unsettled | undefined {
    for (const node of this.#nodes) {
      if (node.spinner !== undefined) return { node, cpuMs: undefined, spinner: node.spinner }
      // The first check may come after a whole turn, which counts nevertheless.
      if (node.turnsUs >= this.#msMax * 1000) return { node, cpuMs: node.turnsUs / 1000 }
    }
    const now = performance.now()
    if (now - this.#looked < this.#msMax * (this.#usedBefore ? betweenLooks : firstLook)) return undefined
    this.#looked = now
    const used = this.#nodes.map(node => node.cpuMs())
    const before = (this.#usedBefore ??= used)
    const isStuck = now - this.#begun > stuckFactor * this.#msMax
    const index = this.#nodes.findIndex((_, i) => isStuck || used[i]! - before[i]! > this.#msMax)
    return index === -1 ? undefined : { node: this.#nodes[index]!, cpuMs: used[index]! - before[index]! }
  }
}
