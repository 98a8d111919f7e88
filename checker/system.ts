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

/** What kind of property: see `property.ts`. */
export type PropertyKind = 'always' | 'eventually' | 'sometimes'

/** The kinds that spend a fault budget. */
export const faultKinds: readonly ChoiceKind[] = ['drop', 'duplicate', 'reset', 'crash', 'partition']

/** What a choice is about, in parts. */
export interface About {
  /** Of a message or a connection: from where to where. */
  readonly from?: string
  readonly to?: string
  /** Of a message: the n-th from `from` to `to` in its execution, counted from 1. */
  readonly ordinal?: number
  /** The n-th connection between its two hosts by that opener; absent for a datagram. */
  readonly connection?: number
  /** Of a message, what it says; of anything else, what happens. Numbers that stand alone are left out: `vote term=`. */
  readonly subject: string
  /** These numbers, in their order. */
  readonly numbers: readonly number[]
  /** Of a message: equal for equal bytes. Absent where only a label is known. */
  readonly hash?: string
}

/** One enabled action. */
export interface Choice extends About {
  readonly kind: ChoiceKind
  /** The node that it acts on: two choices that act on different nodes commute, as far as the nodes are concerned. */
  readonly node: string
  /**
   * What a person is shown and what files hold: `n1→n2 #3 Prepare(4)`. Unique among the choices enabled in one state, and the
   * same in every execution. `labels.ts` reads its parts.
   */
  readonly label: string
  /**
   * Whether it touches nothing but its node. Two such choices of different nodes, enabled in one state, come to the same
   * state in either order, and neither changes the other.
   */
  readonly isLocal?: boolean
  /** Of a timer: in how many milliseconds of its node's own clock it is due. */
  readonly afterMs?: number
  /**
   * When it happens by itself, in milliseconds since the start, in a system that time runs through. A fault that nobody
   * planned has none.
   */
  readonly due?: number
  /** Of an overlap: the choices that it joins, in the order in which they enter. */
  readonly joins?: readonly Choice[]
}

/** Something that no property has to name: it is a finding wherever it happens. */
export interface Finding {
  /** `divergence`: the node did not become quiescent within its bound; `crash`: a process ended of itself. */
  readonly kind: 'divergence' | 'crash'
  readonly node: string
  /** One line: what happened, with the last output of the node. */
  readonly message: string
  /** The same without that: what happened, and the last lines that the node wrote. */
  readonly bare?: { readonly what: string; readonly output: readonly string[] }
}

/** Something that an execution met, so that a person is told where none did. */
export interface Sight {
  /** Names it: `ann returned`. */
  readonly what: string
  /** How often. */
  readonly count: number
  /** Of what was met, one in words. */
  readonly example?: string
}

/** A choice executed, until every node is quiescent again. */
export interface Step {
  readonly choice: Choice
  readonly findings: readonly Finding[]
  /**
   * For how many milliseconds a message had been on its way, by the clock of a node whose timer fired in this step; absent
   * where none was.
   */
  readonly delayMs?: number | undefined
}

/** Where a system can go back to, at less than the cost of executing the way there again. */
export interface Checkpoint {
  /** Frees what it holds. */
  discard(): Promise<void>
}

/**
 * What a fingerprint stands for. `whole`: the state itself, so equal ones have equal futures. `observed`: what can be seen
 * of the state from outside; something hidden may differ. `history`: all that each node was given, in order.
 */
export type Abstraction = 'whole' | 'observed' | 'history'

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
  /** What `fingerprint` stands for; `observed` by default. */
  readonly abstraction?: Abstraction
  /** The same by all that each node was given so far: for where what is observed turns out to hide something. */
  history?(): string | undefined
  /** What is known of the present state, by name: only to say in what two states differ. */
  parts?(): Readonly<Record<string, string>>
  /** The same of what the last step printed. */
  printed?(): Readonly<Record<string, string>>
  /** What was met since the last reset. */
  sights?(): readonly Sight[]
  /** Milliseconds since the start, where time says what happens when; undefined where a search does. */
  nowMs?(): number | undefined
  /** Of what a node may compute in a step before it counts as diverging, the share that it may from now on; 1 at first. */
  setPatience?(share: number): void
  /** From now on no timer is enabled that would leave a message on its way for longer, by any node's clock. */
  setDelayMsMax?(milliseconds: number): void
  /** Why this execution is no evidence that a schedule does not repeat; undefined where it is. */
  disturbance?(): string | undefined
  /**
   * Does the execution that is over once more, and relies on nothing that an earlier one left, where that is its turn. What
   * came to something else is not relied on any more.
   */
  audit?(): Promise<void>
  /** Every execution begins anew from now on, and relies on nothing that an earlier one left. To be called between executions. */
  stopRewinding?(): void
  /** Saves the present state; `undefined` where that is not possible. */
  checkpoint?(): Promise<Checkpoint | undefined>
  /** Brings a state back that was saved. */
  restore?(checkpoint: Checkpoint): Promise<void>
}
