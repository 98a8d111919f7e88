/** A period in which a node stands still: it takes no input, and its clock does not move. */
interface Standstill {
  readonly fromMs: number
  readonly untilMs: number
}

/** When each node stood still, or still does. Times are milliseconds since the start of the execution. */
export class Standstills {
  /** By node, in order of time. They do not overlap. */
  readonly #all = new Map<string, readonly Standstill[]>()

  copy(): Standstills {
    const made = new Standstills()
    for (const [node, all] of this.#all) made.#all.set(node, all)
    return made
  }

  /** Lets a node stand still from now on. A node that stands still already continues at the later of both ends. */
  add(node: string, nowMs: number, forMs: number): void {
    const all = this.#of(node)
    const last = all.at(-1)
    if (last === undefined || last.untilMs <= nowMs)
      this.#all.set(node, [...all, { fromMs: nowMs, untilMs: nowMs + forMs }])
    else this.#all.set(node, [...all.slice(0, -1), { ...last, untilMs: Math.max(last.untilMs, nowMs + forMs) }])
  }

  /** When the node takes inputs that come to it at this time: then, or at the end of its standstill. */
  takenMs(node: string, atMs: number): number {
    return this.#of(node).reduce(
      (taken, { fromMs, untilMs }) => (fromMs <= taken && taken < untilMs ? untilMs : taken),
      atMs,
    )
  }

  /** For how long the node did not stand still until then. */
  ranMs(node: string, untilMs: number): number {
    return this.#of(node).reduce(
      (ran, still) => ran - Math.max(0, Math.min(still.untilMs, untilMs) - still.fromMs),
      untilMs,
    )
  }

  /**
   * When the node will have run for a time, ms of the run. What is due at the beginning of a standstill happens at its
   * end.
   */
  whenRan(node: string, ranMs: number): number {
    return this.#of(node).reduce(
      (atMs, still) => (still.fromMs <= atMs ? atMs + still.untilMs - still.fromMs : atMs),
      ranMs,
    )
  }

  /** The end of the last standstill of any node. */
  get lastEndMs(): number {
    return Math.max(0, ...[...this.#all.values()].map(all => all.at(-1)!.untilMs))
  }

  #of(node: string): readonly Standstill[] {
    return this.#all.get(node) ?? none
  }
}

const none: readonly Standstill[] = []
