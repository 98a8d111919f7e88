/**
 * What a local search sees of one node executed alone, while the search plays its peers ("Model Checking a Networked
 * System Without the Network", Guerraoui and Yabandeh, 2011). It has two implementations: a real process
 * (`harness/execution/alone.ts`) and the in-memory systems of the tests.
 *
 * The contract: after `reset`, the same inputs in the same order lead to the same sights. A message that a node sends
 * alone is the same, with the same label, as the one that it sends in the whole system after the same inputs.
 */
import type { Abstraction, Checkpoint, Choice, ChoiceKind, Finding } from './system.ts'

/** A message that a node sent. It is plain data, so that a node in another process can receive it. */
export interface Sent {
  readonly from: string
  readonly to: string
  /** The label of the choice that delivers it in the whole system: `n1→n2 #3 Prepare(4)`. */
  readonly label: string
  /** Equal for indistinguishable messages: same sender, receiver, bytes, and position in the same connection. */
  readonly content: string
  /** `content` without the position in the connection; by default `content`. */
  readonly alike?: string
  /**
   * The ordered stream that carries it, its position in the stream from 0, and its connection (`connectionOf`);
   * `undefined` for unordered messages such as those of UDP.
   */
  readonly stream?: { readonly name: string; readonly index: number; readonly connection?: string } | undefined
  /** Whether it may be lost, and arrive twice. */
  readonly isDatagram?: boolean
  /**
   * Whether it only opens a connection, or answers a request for one. A network that is prompt delivers it before anything
   * else happens.
   */
  readonly isOfOpening?: boolean
  /** Read only by the system that sent it. */
  readonly body: unknown
}

/** The message, as it would be at another position of its stream. */
export const atPosition = (message: Sent, index: number): Sent =>
  message.stream ? { ...message, content: `${message.alike} ${index}`, stream: { ...message.stream, index } } : message

/** An input of a node: a message to receive, or the label of one of its own choices. */
export type NodeInput = ({ readonly deliver: Sent } | { readonly choice: string }) & {
  /**
   * Which step it was of the schedule after which the search begins, from 1. A recorded run has a time for each of its
   * steps. Undefined for what the search has chosen.
   */
  readonly step?: number
}

/** Two inputs that enter a node in one step, before it runs: messages, or a message and its timer. */
export interface Overlap {
  readonly overlap: readonly [NodeInput, NodeInput]
}

/** What a node is given in one step. */
export type NodeEntry = NodeInput | Overlap

/** Equal for entries that have the same effect on a node. */
export const keyOf = (entry: NodeEntry): string => {
  if ('overlap' in entry) return `overlap ${entry.overlap.map(keyOf).join(' & ')}`
  return 'deliver' in entry ? entry.deliver.content : entry.choice
}

/** Label of an entry. */
export const labelOfEntry = (entry: NodeEntry): string => {
  if ('overlap' in entry) return `overlap ${entry.overlap.map(labelOfEntry).join(' & ')}`
  return 'deliver' in entry ? entry.deliver.label : entry.choice
}

/** What is seen of a node alone after its start or after an input. Plain data. */
export interface NodeSight {
  /** The node's part of the state that properties read. */
  readonly state: unknown
  /** Equal for states that a search may treat as the same. */
  readonly fingerprint: string
  /** Messages that the start or the input made it send, in order. */
  readonly sent: readonly Sent[]
  /** Choices without a message: its timer, its clients' calls, its restarts. In a fixed order. */
  readonly enabled: readonly Choice[]
  /** If there are any, nothing is enabled afterwards. */
  readonly findings: readonly Finding[]
  /**
   * Resets of its connections. Such a reset is an input of both ends of a connection, with the same label, and of one without
   * the other only if that has no such connection.
   */
  readonly resets?: readonly Choice[]
  /** Whether it is down: no message reaches it until it is started again. */
  readonly isDown?: boolean
  /**
   * If it begins at a mark of the whole system: how many messages it had sent to each other node by then, so that later
   * messages get the same labels.
   */
  readonly sentBefore?: Readonly<Record<string, number>>
}

/** Name of the connection that a choice resets, as streams have it. */
export const connectionOf = ({ from, to, connection }: Pick<Choice, 'from' | 'to' | 'connection'>): string =>
  `${from}→${to} ${connection}`

/** Why a node alone cannot take an input: it has a client, by its name, use another node. */
export interface UsesOthers {
  readonly usesOthers: string
}

/** A marked state of a node alone. */
export interface NodeMark {
  /** Whether the mark cannot be gone back to any more. */
  readonly isLost: boolean
  /** Marks of one life need this to be there. A life takes as much memory as its processes. */
  readonly life: unknown
  /** Bytes of memory that it takes besides the marks before it. */
  readonly bytes: number
  /** Frees its resources. */
  discard(): void
}

/** One node of a system, executed alone. */
export interface NodeSystem {
  /** Starts a new execution. */
  reset(variant?: number): Promise<NodeSight>
  /**
   * Begins in the node's part of a marked state of the whole system, without executing anything. Its messages in flight
   * count as sent by this start. `undefined` if that is not possible.
   */
  beginAt?(whole: Checkpoint): Promise<NodeSight | undefined>
  /** Marks its present state; `undefined` if that is not possible. */
  mark?(): NodeMark | undefined
  /** Goes back to a marked state, in place. Returns whether that was possible; if not, it must begin anew. */
  goBack?(mark: NodeMark): boolean
  /**
   * Gives the node an input, or two at once; `undefined` if it cannot take it, for example a segment of a connection that it does not
   * have. If a client uses another node, it must begin anew or go back.
   */
  enter(entry: NodeEntry): Promise<NodeSight | UsesOthers | undefined>
}

/** The nodes of a system, for a search that executes each alone. */
export interface Nodes<State> {
  readonly names: readonly string[]
  /** What the fingerprints of their sights stand for. */
  readonly abstraction: Abstraction
  /** How many faults of each kind may happen in an execution; none by default. */
  readonly faults?: Readonly<Partial<Record<ChoiceKind, number>>>
  /** How often in an execution two inputs may enter a node in one step; 0 by default. */
  readonly overlaps?: number
  /**
   * One of the nodes. Several may be used in turns, but not the whole system: afterwards each of them must begin again, or go
   * back to a mark.
   */
  alone(name: string): NodeSystem
  /**
   * Whether nodes wait for each other in the start of this variant, so that none of them can start alone: each begins at a mark
   * of the whole system at its start. The whole system is used for it. Absent if that is never so.
   */
  startTogether?(variant: number): Promise<boolean>
  /** The system state that properties read when the nodes are in these states, in the order of `names`. */
  join(states: readonly unknown[]): State
  /** The value that a property's `of` receives for such a state. */
  viewOf(state: unknown): unknown
}
