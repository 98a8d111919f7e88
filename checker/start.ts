/**
 * The state in which an execution begins, by name. It does not say how to get there: a cell uses the cheapest way, a
 * reset and a schedule's steps or a checkpoint saved on the way. A state of a live run is named by the schedule that the
 * run executed up to there. A node alone begins by its own history, in a `NodeTask`.
 */
export type Start =
  /** All nodes have started and are quiescent, and no choice was made. */
  | { readonly at: 'initial' }
  /** The state to which a schedule leads from the initial one. */
  | AfterSchedule

interface AfterSchedule {
  readonly at: 'schedule'
  readonly labels: readonly string[]
  /**
   * If true, labels that are not enabled in their turn are skipped, up to the first violation. Otherwise the execution
   * has `Diverged`.
   */
  readonly isLenient?: boolean
}

export const initial: Start = { at: 'initial' }

/** The state after these steps from the initial one. */
export const startAfter = (labels: readonly string[]): Start =>
  labels.length === 0 ? initial : { at: 'schedule', labels }

/** The state after these steps from a start. */
export const after = (start: Start, labels: readonly string[]): Start => startAfter([...labelsTo(start), ...labels])

/** The state after those of these steps from the initial one that are enabled in their turn. */
export const startAsOffered = (labels: readonly string[]): Start => ({ at: 'schedule', labels, isLenient: true })

/** The steps that lead there from the initial state. */
export const labelsTo = (start: Start): readonly string[] => (start.at === 'initial' ? [] : start.labels)
