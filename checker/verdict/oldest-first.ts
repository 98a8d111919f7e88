import type { Cells } from '../cells/cells.ts'
import type { TaskOutcome } from '../cells/task.ts'
import { BudgetSpent, type SearchLimits } from '../system/budget.ts'
import { Diverged } from '../system/errors.ts'
import { labelsOf } from '../system/labels.ts'
import { startAfter } from '../system/start.ts'

/**
 * Reorders independent steps of different nodes so that those that waited longer come first, and the final state stays
 * the same. Of all orders of a schedule (its Mazurkiewicz trace) this is the one that a reader expects, and it makes
 * the critical step independent of the order that the search happened to find.
 *
 * Without fingerprints, the schedule stays as it is.
 */
export const oldestFirst = async (
  cells: Cells,
  schedule: readonly string[],
  limits: SearchLimits,
): Promise<readonly string[]> => {
  const ordering = new Ordering(cells.within(limits), schedule)
  try {
    await ordering.order()
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
  }
  return ordering.best
}

class Ordering {
  best: readonly string[]
  readonly #cells: Cells
  readonly #tried = new Set<string>()

  constructor(cells: Cells, schedule: readonly string[]) {
    this.#cells = cells
    this.best = schedule
  }

  async order(): Promise<void> {
    let outcome: TaskOutcome | undefined = await this.#cells.run({ start: startAfter(this.best) })
    while (outcome) outcome = await this.#improve(outcome)
  }

  /** Swaps two neighbours; `undefined` if no pair is left to swap. */
  async #improve(outcome: TaskOutcome): Promise<TaskOutcome | undefined> {
    const swapped = this.#swapped(outcome).values()
    const outcomes = this.#cells.inOrder(
      () => swapped.next().value,
      (labels, cells) => cells.tryRun({ start: startAfter(labels) }),
    )
    for await (const [labels, other] of outcomes) {
      this.#tried.add(labels.join('\n'))
      if (other instanceof Diverged || other.fingerprints.at(-1) !== outcome.fingerprints.at(-1)) continue
      this.best = labels
      return other
    }
    return undefined
  }

  /** All schedules in which two neighbours are swapped because the second has waited longer. */
  #swapped({ schedule, arrival, fingerprints }: TaskOutcome): (readonly string[])[] {
    if (fingerprints.at(-1) === undefined) return []
    const labels = labelsOf(schedule)
    return schedule.slice(1).flatMap((second, i) => {
      const first = schedule[i]!
      if (first.node === second.node || arrival.offered[i + 1]! >= arrival.offered[i]!) return []
      const swapped = labels.toSpliced(i, 2, second.label, first.label)
      return this.#tried.has(swapped.join('\n')) ? [] : [swapped]
    })
  }
}
