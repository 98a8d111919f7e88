/**
 * The state in which an execution begins, by name. It does not say how to get there: a cell goes there by whatever is
 * cheapest, as a reset and the steps of a schedule, or a checkpoint that was saved on the way.
 */
export type Start =
  /** All nodes have started and are quiescent, and nothing has been chosen. */
  | { readonly at: 'initial' }
  /** The state that a schedule leads to from the initial one. */
  | AfterSchedule

interface AfterSchedule {
  readonly at: 'schedule'
  readonly labels: readonly string[]
  /** Whether a label that is not enabled when its turn comes is left out, up to the first violation; else it has `Diverged`. */
  readonly isLenient?: boolean
}

export const initial: Start = { at: 'initial' }

/** The state after these steps from the initial one. */
export const startAfter = (labels: readonly string[]): Start =>
  labels.length === 0 ? initial : { at: 'schedule', labels }

/** The same where steps that are not enabled when their turn comes are left out. */
export const startAsOffered = (labels: readonly string[]): Start => ({ at: 'schedule', labels, isLenient: true })

/** The steps that lead there from the initial state. */
export const labelsTo = (start: Start): readonly string[] => (start.at === 'initial' ? [] : start.labels)
