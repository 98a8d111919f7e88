import { readLabel } from '../../../checker/system/labels.ts'
import { saidBy } from '../../../checker/system/likeness.ts'
import type { Message } from '../../../proxy/message.ts'
import type { Nanoseconds } from '../../hold/clock/virtual-clock.ts'

/** All nodes' clocks at one moment, in the order of the nodes. */
export type ClockReadings = readonly Nanoseconds[]

/** Plain data. */
export type DelaysMark = readonly (readonly [label: string, offered: ClockReadings])[]

/**
 * How long messages have been in flight, by the clock of each node, counted from the step after which they could first
 * be delivered. Time during which a direction is cut, or the receiver is down, does not count: that is a fault, not a
 * slow network.
 */
export class TimesInFlight {
  /** By label, the clocks when a message first became deliverable. The one that has waited longest is first. */
  #offered: Map<string, ClockReadings>

  constructor(mark: DelaysMark = []) {
    this.#offered = new Map(mark)
  }

  mark(): DelaysMark {
    return [...this.#offered]
  }

  /** @param deliverable after a step, and the clocks at that time */
  endStep(deliverable: readonly Message[], clocks: () => ClockReadings): void {
    for (const label of this.#offered.keys())
      if (!deliverable.some(message => message.label === label)) this.#offered.delete(label)
    let now: ClockReadings | undefined
    for (const { label } of deliverable) {
      if (this.#offered.has(label)) continue
      now ??= clocks()
      this.#offered.set(label, now)
    }
  }

  /** What is left of a divided message has been in flight as long as all of it. */
  continueAs(message: Message, rest: Message): void {
    this.#offered = new Map(
      [...this.#offered].map(([label, then]) => [label === message.label ? rest.label : label, then]),
    )
  }

  /** Label of the message that has waited longest; undefined if there is none. */
  get oldest(): string | undefined {
    const [first] = this.#offered.keys()
    return first
  }

  /** Equal if equal messages have been in flight for equal times. */
  outline(now: ClockReadings): string {
    return JSON.stringify(
      [...this.#offered].map(([label, then]) => [saidBy(readLabel(label)), now.map((t, i) => t - then[i]!)]),
    )
  }

  /**
   * How long the longest-waiting message will have been in flight when the `index`-th node's clock shows `instant`; 0
   * if there is none.
   */
  at(index: number, instant: Nanoseconds): Nanoseconds {
    for (const clocks of this.#offered.values()) return Math.max(0, instant - clocks[index]!)
    return 0
  }
}
