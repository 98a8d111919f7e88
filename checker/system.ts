/**
 * What a search sees of a system under check. Everything in `checker/` is written against this file alone; real
 * processes (`harness/cluster.ts`) and the in-memory systems of the tests are two implementations of it.
 *
 * The contract that makes an execution a schedule: after `reset`, the same choices executed in the same order lead to
 * the same states, the same enabled choices in the same order, and the same labels.
 */

/** What kind of surprise a choice is. Faults are limited by budgets that the system itself keeps. */
export type ChoiceKind =
  /** a client's call begins */
  | 'client'
  /** a message (a datagram, what a connection carried in a step, a connection being opened or closed) arrives */
  | 'deliver'
  /** the node's earliest timer fires */
  | 'timer'
  /** two enabled inputs of one node enter it in one step, before it runs; not a fault: any network may do it */
  | 'overlap'
  | 'drop'
  | 'duplicate'
  /** a connection is reset, or a node is killed and at once started again */
  | 'reset'
  | 'crash'
  /** a crashed node is started again; free, for it only ends a fault */
  | 'restart'
  | 'partition'
  /** a partition ends; free, for it only ends a fault */
  | 'heal'

/** The kinds that spend a fault budget. */
export const faultKinds: readonly ChoiceKind[] = ['drop', 'duplicate', 'reset', 'crash', 'partition']

/** One enabled action. */
export interface Choice {
  readonly kind: ChoiceKind
  /** The node that it acts on: two choices that act on different nodes commute, as far as the nodes are concerned. */
  readonly node: string
  /** Unique among the choices enabled in one state, the same in every execution: `n1→n2 #3 Prepare(4)`. */
  readonly label: string
  /**
   * Whether it touches nothing but its node. Two such choices of different nodes, enabled in one state, come to the same
   * state in either order, and neither changes the other.
   */
  readonly isLocal?: boolean
  /** Of an overlap: the labels of the choices that it joins, in the order in which they enter. */
  readonly joins?: readonly string[]
}

/** Something that no property has to name: it is a finding wherever it happens. */
export interface Finding {
  /** `divergence`: the node did not become quiescent within its bound; `crash`: a process ended of itself. */
  readonly kind: 'divergence' | 'crash'
  readonly node: string
  /** One line: what happened, with the last output of the node. */
  readonly message: string
}

/** A choice executed, until every node is quiescent again. */
export interface Step {
  readonly choice: Choice
  readonly findings: readonly Finding[]
}

/** Where a system can go back to, at less than the cost of executing the way there again. */
export interface Checkpoint {
  /** Frees what it holds. */
  discard(): Promise<void>
}

/** A system under check, of which the properties read states of type `State`. */
export interface System<State> {
  /**
   * Brings the system to its initial state, quiescent; findings are those of its start.
   *
   * @param variant which random numbers its nodes draw, where they draw any; 0 by default
   */
  reset(variant?: number): Promise<readonly Finding[]>
  /**
   * The choices enabled now, in a fixed and meaningful order: it must be the same whenever the same state is reached
   * by the same schedule. Empty in a terminal state, and after a finding.
   */
  enabled(): readonly Choice[]
  /** Executes one of `enabled()`. */
  execute(choice: Choice): Promise<Step>
  /** What the properties read. A snapshot: later steps do not change it. */
  state(): State
  /**
   * Equal for states that a search may take for the same: observed states, messages in flight, pending timers, spent
   * budgets. `undefined` where the user wants no state to be pruned.
   */
  fingerprint(): string | undefined
  /** Of what a node may compute in a step before it counts as diverging, the share that it may from now on; 1 at first. */
  setPatience?(share: number): void
  /** Saves the present state; `undefined` where that is not possible. */
  checkpoint?(): Promise<Checkpoint | undefined>
  /** Brings a state back that was saved. */
  restore?(checkpoint: Checkpoint): Promise<void>
}
