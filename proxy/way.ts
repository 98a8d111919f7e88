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

  next(way: Way): number {
    const key = wayKey(way)
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return count
  }
}
