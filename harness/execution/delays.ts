import { readLabel } from '../../checker/labels.ts'
import { saidBy } from '../../checker/likeness.ts'
import type { Message } from '../../proxy/message.ts'
import type { Nanoseconds } from '../hold/virtual-clock.ts'

/** What all nodes' clocks showed at one moment, in the order of the nodes. */
export type Clocks = readonly Nanoseconds[]

/** Plain data. */
export type DelaysMark = readonly (readonly [label: string, offered: Clocks])[]

/**
 * How long messages have been on their way, by the clock of each node: from the step after which they could first be
 * delivered. A way that is cut, or whose receiver is down, takes no time: that is a fault, not a slow network.
 */
export class Delays {
  /** The clocks when a message was first deliverable, by its label; the one that has waited longest is the first. */
  #offered: ReadonlyMap<string, Clocks>

  constructor(mark: DelaysMark = []) {
    this.#offered = new Map(mark)
  }

  mark(): DelaysMark {
    return [...this.#offered]
  }

  /** @param deliverable after a step, with what the clocks show then */
  endStep(deliverable: readonly Message[], clocks: () => Clocks): void {
    if (deliverable.length === 0 && this.#offered.size === 0) return
    const present = new Set(deliverable.map(({ label }) => label))
    const old = [...this.#offered].filter(([label]) => present.delete(label))
    const now = present.size > 0 ? clocks() : []
    this.#offered = new Map([...old, ...[...present].map(label => [label, now] as const)])
  }

  /** Equal for equal times of equal messages on their way. */
  outline(now: Clocks): string {
    return JSON.stringify(
      [...this.#offered].map(([label, then]) => [saidBy(readLabel(label)), now.map((t, i) => t - then[i]!)]),
    )
  }

  /** How long some message will have been on its way when a node's clock, the `index`-th, shows `instant`; 0 for none. */
  at(index: number, instant: Nanoseconds): Nanoseconds {
    for (const clocks of this.#offered.values()) return Math.max(0, instant - clocks[index]!)
    return 0
  }
}
