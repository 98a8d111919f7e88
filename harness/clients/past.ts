/** At most this many earlier states of a node are kept. More would cost memory in every mark of an execution. */
export const pastMax = 16

const nothing: readonly unknown[] = []

interface Version {
  readonly state: unknown
  readonly text: string
}

/** By node: the last state and those before it, the latest first. */
export type PastMark = readonly (readonly [node: string, last: Version, before: readonly unknown[]])[]

/** The different states in which each node was seen, in order. Lists that were returned do not change. */
export class Past {
  readonly #last = new Map<string, Version>()
  readonly #before = new Map<string, readonly unknown[]>()

  /** @param mark of an execution that continues here */
  constructor(mark: PastMark = []) {
    for (const [node, last, before] of mark) {
      this.#last.set(node, last)
      this.#before.set(node, before)
    }
  }

  /**
   * Notes an observed state.
   *
   * @param text the state as JSON; undefined if nothing was observed, which does not count as a state
   */
  see(node: string, state: unknown, text: string | undefined): void {
    const last = this.#last.get(node)
    if (text === undefined || last?.text === text) return
    if (last) this.#before.set(node, [last.state, ...this.of(node).slice(0, pastMax - 1)])
    this.#last.set(node, { state, text })
  }

  /** The states before the last one, the latest first. */
  of(node: string): readonly unknown[] {
    return this.#before.get(node) ?? nothing
  }

  mark(): PastMark {
    return [...this.#last].map(([node, last]) => [node, last, this.of(node)])
  }
}
