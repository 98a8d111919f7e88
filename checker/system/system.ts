/**
 * A system under check as a search sees it. Everything in `checker/` is written against this file alone. It has two
 * implementations: real processes (`harness/cluster.ts`) and the in-memory systems of the tests.
 *
 * The contract that makes an execution a schedule: after `reset`, the same choices executed in the same order lead to
 * the same states, the same enabled choices in the same order, and the same labels.
 */

import type { ChoiceKind } from '../happening/kinds.ts'
import type { Processes } from './processes.ts'

/** What each kind means: see `happening/kinds.ts`. The system itself keeps the budgets that limit faults. */
export type { ChoiceKind }

/** The kinds of properties: see `property.ts`. */
export type PropertyKind = 'always' | 'eventually' | 'sometimes'

/** The parts of a choice. */
export interface About {
  /** Sender and receiver of a message, or the two ends of a connection. */
  readonly from?: string
  readonly to?: string
  /** For a message: the n-th from `from` to `to` in its execution, counted from 1. One of several frames counts as many. */
  readonly ordinal?: number
  /** The n-th connection between its two hosts opened by the same one; absent for a datagram. */
  readonly connection?: number
  /** For a message, its text; otherwise, what happens. Numbers that stand alone are removed: `vote term=`. */
  readonly subject: string
  /** The removed numbers, in their order. */
  readonly numbers: readonly number[]
  /** For a message: equal for equal bytes. Absent if only a label is known. */
  readonly hash?: string
}

/** One enabled action. */
export interface Choice extends About {
  readonly kind: ChoiceKind
  /** The node on which it acts. Choices of different nodes commute, as far as the nodes are concerned. */
  readonly node: string
  /**
   * The text that people see and files hold: `n1→n2 #3 Prepare(4)`. It is unique among the choices enabled in one
   * state, and the same in every execution. `labels.ts` parses it.
   */
  readonly label: string
  /**
   * Whether it affects only its node. Two such choices of different nodes, enabled in one state, lead to the same state
   * in either order, and neither changes the other.
   */
  readonly isLocal?: boolean
  /** For a timer: in how many milliseconds of its node's own clock it is due. */
  readonly afterMs?: number
  /**
   * In a system with a common time: when it happens by itself, in milliseconds since the start. Absent for a fault that
   * nobody planned.
   */
  readonly due?: number
  /** For an overlap: the joined choices, in the order in which they enter. */
  readonly joins?: readonly Choice[]
  /** For the beginning of a message: the choice that delivers all of it. */
  readonly whole?: Choice
}

/** Something that counts as a finding wherever it happens, without a property. */
export interface Finding {
  /** `divergence`: the node did not become quiescent within its bound; `crash`: a process ended by itself. */
  readonly kind: 'divergence' | 'crash'
  readonly node: string
  /** One line: what happened, and the node's last output. */
  readonly message: string
  /** The message in two parts: what happened, and the last lines that the node printed. */
  readonly bare?: { readonly what: string; readonly output: readonly string[] }
}

/** Something that an execution met. Sights are counted so that notes can say what was never met. */
export interface Sight {
  /** Its name: `ann returned`. */
  readonly what: string
  readonly count: number
  /** An example in words. */
  readonly example?: string
  /** Only a limited number of sights of one group are kept, because their names may differ in each execution. */
  readonly group?: string
}

/** A choice, executed until every node was quiescent again. */
export interface Step {
  readonly choice: Choice
  readonly findings: readonly Finding[]
  /**
   * How long a message had been in flight, in milliseconds of the clock of a node whose timer fired in this step;
   * absent if there was none.
   */
  readonly delayMs?: number | undefined
  /**
   * How far clocks were apart, in milliseconds, when a timer fired in this step: how much earlier that of another node was
   * due, each by its own clock; absent if none was.
   */
  readonly skewMs?: number | undefined
  /** The calls that ended in this step: in which step each began, counted from 1, and whether it failed. */
  readonly calls?: readonly { readonly begun: number; readonly failed: boolean }[] | undefined
}

/** A saved state that can be restored more cheaply than by executing its schedule again. */
export interface Checkpoint {
  /** Whether restoring it would mean executing its schedule again, because what it was saved in is gone. */
  readonly isLost?: boolean
  /** Frees its resources. */
  discard(): Promise<void>
}

/**
 * What a fingerprint stands for. `whole`: the state itself, so equal fingerprints mean equal futures. `observed`: what
 * can be observed of the state, so something hidden may differ. `history`: all inputs of each node, in order.
 */
export type Abstraction = 'whole' | 'observed' | 'history'

/** A system under check, whose properties read states of type `State`. */
export interface System<State> {
  /**
   * Brings the system to its initial, quiescent state. Returns findings of its start.
   *
   * @param variant which random numbers its nodes draw; 0 by default
   */
  reset(variant?: number): Promise<readonly Finding[]>
  /**
   * The enabled choices in a fixed and meaningful order. The order must be the same whenever the same schedule reaches
   * the state. Empty in a terminal state, and after a finding.
   */
  enabled(): readonly Choice[]
  /** Executes one of `enabled()`. */
  execute(choice: Choice): Promise<Step>
  /** The state that properties read. It is a snapshot: later steps do not change it. */
  state(): State
  /**
   * Equal for states that a search may treat as the same: observed states, messages in flight, pending timers, spent
   * budgets. `undefined` if the user wants no state to be pruned.
   */
  fingerprint(): string | undefined
  /** What `fingerprint` stands for; `observed` by default. */
  readonly abstraction?: Abstraction
  /** A fingerprint of all inputs of each node so far, for use when observed states turn out to hide something. */
  history?(): string | undefined
  /** What is known of the present state, by name. Used only to say how two states differ. */
  parts?(): Readonly<Record<string, string>>
  /** What the last step printed, by name. Used only to say how two states differ. */
  printed?(): Readonly<Record<string, string>>
  /** Names of the nodes that are down now. Only notes depend on it. */
  down?(): readonly string[]
  /** Equal for states in which a call may be expected to come to the same; undefined if that is not known. */
  situation?(): string | undefined
  /** Whether a client's call is under way. Absent if there are no clients. */
  isCalling?(): boolean
  /** How long the network has been healthy in this execution, in milliseconds of all clocks; undefined if it is not. */
  healthyMs?(): number | undefined
  /** What was met since the last reset. */
  sights?(): readonly Sight[]
  /** Milliseconds since the start if the system has a common time; undefined if a search decides what happens when. */
  nowMs?(): number | undefined
  /**
   * From now on, no timer is enabled that would leave a message in flight for longer than this, by any node's clock.
   */
  setDelayMsMax?(milliseconds: number): void
  /** From now on, the clocks of nodes are at most this far apart. */
  setSkewMsMax?(milliseconds: number): void
  /** What is real of it. A system in memory has no processes. */
  readonly processes?: Processes
  /**
   * Saves the present state; `undefined` if that is not possible.
   *
   * @param mayHaveFiles whether it may be saved in files, which takes as long as starting some nodes; true by default
   */
  checkpoint?(mayHaveFiles?: boolean): Promise<Checkpoint | undefined>
  /** Restores a saved state. */
  restore?(checkpoint: Checkpoint): Promise<void>
}
