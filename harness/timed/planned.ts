import { sentenceOf } from '../../checker/happening/happenings.ts'
import { UsageError } from '../../checker/system/errors.ts'
import type { ChurnEvent } from '../../topologies/churn/plan.ts'

/** What is planned for a run while it is under way, besides the plan that it began with. */
export class Planned {
  #events: readonly ChurnEvent[] = []

  /** In order of time. */
  get all(): readonly ChurnEvent[] {
    return this.#events
  }

  /** When the next one is due; Infinity if there is none. */
  get nextMs(): number {
    return this.#events[0]?.atMs ?? Number.POSITIVE_INFINITY
  }

  /**
   * Replaces those that have not happened.
   *
   * @param events in order of time
   *
   * @throws UsageError for one in the past
   */
  put(events: readonly ChurnEvent[], nowMs: number): void {
    const [first] = events
    if (first && first.atMs < nowMs)
      throw new UsageError(
        `"${sentenceOf(first)}" is planned for ${first.atMs / 1000} s: expected a time after ${(nowMs / 1000).toFixed(1)} s, where the run is`,
      )
    this.#events = events
  }

  /** Takes away those that are due. */
  take(nowMs: number): readonly ChurnEvent[] {
    const due = this.#events.filter(({ atMs }) => atMs <= nowMs)
    this.#events = this.#events.slice(due.length)
    return due
  }
}
