import type { RecordedTimers } from './trace.ts'

/** Finds the nodes whose timers change from step to step. Most of many nodes do nothing in a step. */
export class ChangedTimers {
  /** By node, its timers after the last step. */
  readonly #before: Map<string, readonly number[]>

  constructor(before: ReadonlyMap<string, readonly number[]> = new Map()) {
    this.#before = new Map(before)
  }

  copy(): ChangedTimers {
    return new ChangedTimers(this.#before)
  }

  /** @param all each node's timers after the next step; a node that is left out has none */
  next(all: readonly RecordedTimers[]): RecordedTimers[] {
    const changed = all.filter(({ node, deadlinesMs }) => !areSame(this.#before.get(node) ?? none, deadlinesMs))
    if (all.length < this.#before.size) {
      const named = new Set(all.map(({ node }) => node))
      for (const [node, { length }] of this.#before)
        if (length > 0 && !named.has(node)) changed.push({ node, deadlinesMs: none })
    }
    for (const { node, deadlinesMs } of changed) this.#before.set(node, deadlinesMs)
    return changed
  }
}

const none: readonly number[] = []

const areSame = (one: readonly number[], other: readonly number[]): boolean =>
  one === other || (one.length === other.length && one.every((each, index) => each === other[index]))
