/**
 * A queue of items by rank, a whole number. The lowest rank comes first, and items of one rank come in the order of
 * arrival.
 */
export class Buckets<Item> {
  readonly #buckets: { items: Item[]; taken: number }[] = []
  #count = 0

  get isEmpty(): boolean {
    return this.#count === 0
  }

  push(item: Item, rank: number): void {
    while (this.#buckets.length <= rank) this.#buckets.push({ items: [], taken: 0 })
    this.#buckets[rank]!.items.push(item)
    this.#count += 1
  }

  shift(): Item | undefined {
    const bucket = this.#buckets.find(({ items, taken }) => taken < items.length)
    if (bucket === undefined) return undefined
    this.#count -= 1
    const item = bucket.items[bucket.taken++]!
    if (bucket.taken === bucket.items.length) {
      bucket.items = []
      bucket.taken = 0
    }
    return item
  }
}
