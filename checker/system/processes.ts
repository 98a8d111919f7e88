/**
 * What a search asks of a system because real processes take time, are reused, and can be disturbed. A system in memory has
 * none of it.
 */
export interface Processes {
  /**
   * From now on, what still lasts soon after this time, by `performance.now()`, ends by throwing `BudgetSpent`: a step, a
   * start, an audit. Only a reset, or a return to a saved state, may follow.
   */
  endBy(time: number): void
  /** Sets the CPU limit of a step as a share of `stepLimit`, in (0, 1]; 1 at first. */
  setPatience(share: number): void
  /** Why a divergence of this execution is no evidence against the system; undefined if it is. */
  disturbance(): string | undefined
  /**
   * If it is time for an audit: repeats the last execution without anything reused from earlier ones, and compares.
   * What led to a difference is no longer reused.
   */
  audit(): Promise<void>
  /**
   * From now on, every execution begins on new processes and reuses nothing of earlier ones. Call it between
   * executions.
   *
   * @returns false if that was so before
   */
  stopRewinding(): boolean
  /** Ends what is kept of earlier executions: the next one begins on new processes. Call it between executions. */
  endLives(): void
  /**
   * From now on, a thread that computes is cut short later, to let others run. That is slower if they wait for each
   * other, and leaves less to chance. Call it between executions.
   *
   * @returns false if that was so before
   */
  lengthenTurns(): boolean
}
