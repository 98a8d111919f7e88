/** Where the replicas of the objects are that a node owns, as far as it knows. */
export class Index {
  #replicas
  /** By object, then by holder: `isSpare`: it was copied elsewhere; `isLeaving`: it is told to go and does not count. */
  #objects = new Map()

  /** `replicas`: how many each object should have. */
  constructor(replicas) {
    this.#replicas = replicas
  }

  /** For a log. */
  get state() {
    return Object.fromEntries([...this.#objects].map(([object, holders]) => [object, Object.fromEntries(holders)]))
  }

  /** Whether every object has as many replicas as it should, and none is being deleted. */
  get isComplete() {
    return [...this.#objects.values()].every(({ size }) => size === this.#replicas)
  }

  add(object, holder) {
    const holders = this.#holders(object)
    if (!holders.has(holder)) holders.set(holder, { isSpare: false, isLeaving: false })
  }

  /** An object without any replica is lost, and not known any more. */
  remove(object, holder) {
    const holders = this.#holders(object)
    holders.delete(holder)
    if (holders.size === 0) this.#objects.delete(object)
  }

  /** These objects, and no others, are at the holder. */
  replace(holder, objects) {
    for (const object of [...this.#objects.keys()]) if (!objects.includes(object)) this.remove(object, holder)
    for (const object of objects) this.add(object, holder)
  }

  markSpare(object, holder) {
    const replica = this.#objects.get(object)?.get(holder)
    if (replica) replica.isSpare = true
  }

  /** What the holder was told may not have arrived. */
  markUnsure(holder) {
    for (const holders of this.#objects.values()) if (holders.has(holder)) holders.get(holder).isLeaving = false
  }

  /** Objects with too few replicas, and who has one. */
  lacking() {
    return [...this.#objects]
      .map(([object, holders]) => ({ object, holders: staying(holders) }))
      .filter(({ holders }) => holders.length > 0 && holders.length < this.#replicas)
  }

  /**
   * Objects with too many replicas, and which one has to go: one that was copied elsewhere, or else the latest. While it
   * is not certain what somebody holds, everything stays.
   */
  takeExtra(isUnsure) {
    const extra = []
    for (const [object, holders] of this.#objects) {
      const stay = staying(holders)
      if (stay.length <= this.#replicas || stay.some(isUnsure)) continue
      const victim = stay.find(holder => holders.get(holder).isSpare) ?? stay.at(-1)
      holders.get(victim).isLeaving = true
      extra.push({ object, victim })
    }
    return extra
  }

  #holders(object) {
    if (!this.#objects.has(object)) this.#objects.set(object, new Map())
    return this.#objects.get(object)
  }
}

const staying = holders => [...holders.keys()].filter(holder => !holders.get(holder).isLeaving)
