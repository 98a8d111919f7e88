import type { HeldNode } from './held-node.ts'

/** Why nodes did not become quiescent. */
export interface Unsettled {
  readonly node: HeldNode
  /** What it used; undefined where it spins, and nobody will ever end that. */
  readonly cpuMs: number | undefined
  /** The ordinal of the thread that does. */
  readonly spinner?: number
}

/** When looks are taken, as shares of the limit: most steps are over long before the first, and each costs as much as a step. */
const firstLook = 1 / 50
const betweenLooks = 1 / 8
/** A node that neither sleeps nor computes, as one waiting for a disk, is given up after so many times its CPU time. */
const stuckFactor = 30

/** Whether one of some nodes computes for longer than it may, from now on. */
export class CpuLimit {
  readonly #nodes: readonly HeldNode[]
  readonly #msMax: number
  readonly #begun = performance.now()
  #looked = this.#begun
  /** What each had used at the first look. */
  #usedBefore: readonly number[] | undefined

  constructor(nodes: readonly HeldNode[], msMax: number) {
    this.#nodes = nodes
    this.#msMax = msMax
  }

  /** To be asked again and again: the node that does, and what it has used. */
  exceeding(): Unsettled | undefined {
    for (const node of this.#nodes)
      if (node.spinner !== undefined) return { node, cpuMs: undefined, spinner: node.spinner }
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
