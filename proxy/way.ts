/** One way between two hosts. */
export type Way = readonly [from: string, to: string]

export const wayKey = ([from, to]: Way): string => `${from}→${to}`

export type WayCountsMark = readonly (readonly [way: string, count: number])[]

/** Counts something for each way, from 1. */
export class WayCounts {
  readonly #counts: Map<string, number>

  constructor(counts: WayCountsMark = []) {
    this.#counts = new Map(counts)
  }

  mark(): WayCountsMark {
    return [...this.#counts]
  }

  /** The first of the next `count` numbers; of one by default. */
  next(way: Way, count = 1): number {
    const key = wayKey(way)
    const before = this.#counts.get(key) ?? 0
    this.#counts.set(key, before + count)
    return before + 1
  }
}
