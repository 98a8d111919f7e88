/**
 * What a local search sees of one node alone, whose peers the search plays ("Model Checking a Networked System Without the
 * Network", Guerraoui and Yabandeh, 2011). One real process (`harness/execution/alone.ts`) and the in-memory systems of the
 * tests are two implementations of it.
 *
 * The contract: after `reset`, the same inputs in the same order lead to the same sights. A message that a node sends alone
 * is the one that it sends in the whole system after the same inputs, with the same label.
 */
import type { Abstraction, Choice, Finding } from './system.ts'

/** A message that a node sent. Plain data, so that it can be given to another node, in another process. */
export interface Sent {
  readonly from: string
  readonly to: string
  /** As a choice that delivers it is labelled in the whole system: `n1→n2 #3 Prepare(4)`. */
  readonly label: string
  /** Equal for messages that nobody could tell apart: from whom, to whom, the bytes, which place of which connection. */
  readonly content: string
  /** What carries messages in order, and the how-many-th of it this is, from 0; `undefined` where none does, as for UDP. */
  readonly stream?: { readonly name: string; readonly index: number } | undefined
  /** What only the system that sent it reads. */
  readonly body: unknown
}

/** What a node does: it is given a message, or one of its own choices is executed, by its label. */
export type NodeInput = { readonly deliver: Sent } | { readonly choice: string }

/** What an input is called. */
export const labelOf = (input: NodeInput): string => ('deliver' in input ? input.deliver.label : input.choice)

/** What is seen of a node alone after its start, or after an input. Plain data. */
export interface NodeSight {
  /** Its part of what the properties read. */
  readonly state: unknown
  /** Equal for states that a search may take for the same. */
  readonly fingerprint: string
  /** What the start or the input let it send, in order. */
  readonly sent: readonly Sent[]
  /** What it can do without a message: its timer, its clients' calls, its restarts. In a fixed order. */
  readonly enabled: readonly Choice[]
  /** Where there are any, nothing is enabled any more. */
  readonly findings: readonly Finding[]
}

/** One node of a system, alone. */
export interface NodeSystem {
  /** Starts it anew. */
  reset(variant?: number): Promise<NodeSight>
  /** Gives it an input; `undefined` where that cannot enter, as a segment of a connection that the node does not have. */
  enter(input: NodeInput): Promise<NodeSight | undefined>
}

/** One execution of a node alone that a search asks for, said as plain data. */
export interface NodeTask {
  readonly node: string
  readonly inputs: readonly NodeInput[]
}

/** What came of it. */
export interface NodeOutcome {
  /** Names what was seen after the start and after each input, so that two executions can be compared. */
  readonly trail: readonly string[]
  /** After the last input; `undefined` where that cannot enter. */
  readonly last: NodeSight | undefined
}

/** The nodes of a system, for a search that executes each of them alone. */
export interface Nodes<State> {
  readonly names: readonly string[]
  /** What fingerprints of their sights stand for. */
  readonly abstraction: Abstraction
  /** One of them. It and the whole system are not used at once: either begins with a reset. */
  alone(name: string): NodeSystem
  /** What the properties would read of a system whose nodes are in these states, in the order of `names`. */
  join(states: readonly unknown[]): State
  /** What `of` of a property is given of such a state. */
  viewOf(state: unknown): unknown
}
