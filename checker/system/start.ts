import { labelOfEntry, type NodeEntry } from './node-system.ts'

/**
 * The state in which an execution of the whole system begins, by name. It does not say how to get there: a cell uses the
 * cheapest way, a reset and a schedule's steps or a checkpoint saved on the way. A checkpoint is no start of its own,
 * because it exists in one cell only, and a task must come to the same result in each. A state of a live run is named by
 * the schedule that the run executed up to there.
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
  /** Whether, then, timers that are due at other times than in the schedule are matched by node and order. */
  readonly isShifted?: boolean
}

/** The state of a node alone, by its history. */
export interface NodeStart {
  readonly at: 'node'
  readonly node: string
  /**
   * The schedule of the whole system to which its execution alone begins: there, it has the state that it has in the whole
   * system. Empty if it begins with its start.
   */
  readonly after: readonly string[]
  readonly inputs: readonly NodeEntry[]
}

export const initial: Start = { at: 'initial' }

/** The state after these steps from the initial one. */
export const startAfter = (labels: readonly string[]): Start =>
  labels.length === 0 ? initial : { at: 'schedule', labels }

/** The state after these steps from a start. */
export const after = (start: Start, labels: readonly string[]): Start => startAfter([...labelsTo(start), ...labels])

/** The state after those of these steps from the initial one that are enabled in their turn. */
export const startAsOffered = (labels: readonly string[], isShifted = false): Start => ({
  at: 'schedule',
  labels,
  isLenient: true,
  ...(isShifted && { isShifted }),
})

/** The steps, or inputs, that lead there from the initial state. */
export const labelsTo = (start: Start | NodeStart): readonly string[] =>
  start.at === 'initial' ? [] : start.at === 'node' ? start.inputs.map(labelOfEntry) : start.labels
