import type { Operation } from '../history/operation.ts'
import type { Choice, Finding, PropertyKind } from '../system/system.ts'

/**
 * A recorded execution as the file format holds it (`schema.ts`). It contains everything that the report and the
 * debugger show and that a replay follows.
 */
export interface Trace {
  readonly header: TraceHeader
  /** Steps in order; `steps[0]` is the start of the system. */
  readonly steps: readonly RecordedStep[]
  /** Absent in a torn trace. */
  readonly end: TraceEnd | undefined
  /** Present if the tool ended while writing; `steps` are then the whole ones. */
  readonly torn: Tear | undefined
}

export interface Tear {
  /** Offset at which the last whole record ends. */
  readonly byte: number
  /** Index of the last whole step; -1 if not even the start is whole. */
  readonly afterStep: number
}

/** How the execution was made. Written first, before anything is executed. */
export interface TraceHeader {
  /** Name of the system. */
  readonly system: string
  /** Versions by name: `lastnail`, `node`, `kernel`. */
  readonly versions: Readonly<Record<string, string>>
  readonly config: ConfigIdentity
  /** A whole number, at least 0. */
  readonly seed: number
  /** What the nodes' clocks showed first, as an ISO date and time; empty in an older trace. */
  readonly clocksStart: string
  /** Options of the command, as JSON. */
  readonly options: unknown
  readonly nodes: readonly RecordedNode[]
  readonly properties: readonly RecordedProperty[]
  /** Fault budgets of one execution, by kind of choice. */
  readonly faults: Readonly<Record<string, number>>
}

/** Which configuration was executed, and its content at that time. */
export interface ConfigIdentity {
  /** Absolute. */
  readonly path: string
  /** Hash of its content, in hex. */
  readonly sha256: string
}

export interface RecordedNode {
  readonly name: string
  readonly command: readonly string[]
  /** Only the variables that the configuration sets, not those inherited from the tool. */
  readonly env: Readonly<Record<string, string>>
  /** Empty for a node without a container. */
  readonly image: string
  /** Its IPv4 address; empty in an older trace. */
  readonly address: string
  /** Hash of the files with which it was started, in hex; empty for a container and in an older trace. */
  readonly program: string
}

export interface RecordedProperty {
  readonly name: string
  readonly kind: PropertyKind
}

/** A step with everything that could be observed of it from outside. */
export interface RecordedStep {
  /** Counts from 0, the start of the system. */
  readonly index: number
  /** `undefined` only for the start. */
  readonly choice: RecordedChoice | undefined
  /**
   * Labels of the messages and timers of a start in which nodes waited for each other; absent in any other start, and of
   * a step.
   */
  readonly started?: readonly string[]
  /**
   * Present if the step is kept in outline: `choice` without what was sent, written and seen in it; `state` with
   * everything known after it too, and not only with what changed.
   */
  readonly keeps?: 'choice' | 'state'
  /** Real time that it took. The only field that may differ between two executions of one schedule. */
  readonly durationUs: number
  /** Messages sent during the step. */
  readonly messages: readonly RecordedMessage[]
  /**
   * Labels of messages that disappeared in it without being delivered or dropped: their connection was reset, for
   * example.
   */
  readonly lost: readonly string[]
  /** When it was executed, in milliseconds since the start; absent if the system has no common time. */
  readonly atMs?: number | undefined
  /** JSON: what somebody outside asked for while the system ran, if the step did that. */
  readonly input?: unknown
  /** Virtual clocks that moved in it. */
  readonly clocks: readonly RecordedClock[]
  /** Nodes whose timers are others than after the step before, each with all of its own; all nodes with timers at the start. */
  readonly timers: readonly RecordedTimers[]
  /** Nodes that started or ended in it; all nodes at the start. Absent if there were none, and in an older trace. */
  readonly lives?: readonly RecordedLife[]
  /** Observed states that changed in it. */
  readonly states: readonly RecordedState[]
  /** What nodes printed during it. */
  readonly outputs: readonly RecordedOutput[]
  readonly findings: readonly Finding[]
  /** Operations of the history that were invoked or returned in it, as they are after it. `invoked` identifies each. */
  readonly operations: readonly Operation[]
  /** Client calls that began or ended in it; absent if there were none, and in an older trace. */
  readonly calls?: readonly RecordedCall[]
  /** Properties whose value changed in it; all properties at the start. */
  readonly properties: readonly PropertyValue[]
  readonly fingerprint: string | undefined
  /**
   * How it changed the enabled choices (`enabledAfter`): first remove `withdrawn`, which are positions in the list so
   * far, then append `offered`. Both are empty throughout a trace that does not record enabled choices.
   */
  readonly offered: readonly RecordedChoice[]
  readonly withdrawn: readonly number[]
}

/** A choice as stored in a file. `readLabel` recovers the other parts. */
export interface RecordedChoice extends Pick<Choice, 'kind' | 'node' | 'label'> {
  /** For an overlap: the labels of the joined choices; absent in older traces. */
  readonly joins?: readonly string[]
}

/** The beginning or the end of a client's call. */
export interface RecordedCall {
  readonly client: string
  /** The n-th call of this client, from 1. */
  readonly ordinal: number
  readonly hasEnded: boolean
  /** What it returned as JSON, possibly shortened; absent if it returned nothing. */
  readonly result?: string | undefined
  /** Message of the error that it threw. */
  readonly error?: string | undefined
}

export interface RecordedMessage {
  readonly from: string
  readonly to: string
  /** The n-th message from `from` to `to`, counted from 1. */
  readonly ordinal: number
  /** The label of the choice that delivers it. */
  readonly label: string
  /** `data`, `open`, `close` and so on, in the network's words; empty in an older trace. */
  readonly kind: string
  /** The payload, possibly cut by the writer. */
  readonly bytes: Uint8Array
  /** Length of the whole payload in bytes. */
  readonly length: number
}

export interface RecordedClock {
  readonly node: string
  /** Virtual time since the node's clock began at the start. */
  readonly elapsedMs: number
}

/** All pending timers of a node. */
export interface RecordedTimers {
  readonly node: string
  /** Time of its clock until each is due, the earliest first. */
  readonly deadlinesMs: readonly number[]
}

export interface RecordedLife {
  readonly node: string
  readonly isAlive: boolean
  /** Whether its earlier output still counts: true for a process that ended by itself. */
  readonly keepsOutput: boolean
}

export interface RecordedState {
  readonly node: string
  /** JSON; `undefined` if there is none, for example while a node is down. */
  readonly state: unknown
}

export interface RecordedOutput {
  readonly node: string
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
}

export interface PropertyValue {
  readonly name: string
  readonly holds: boolean
}

export interface TraceEnd {
  /** JSON: what the search concluded about this execution. */
  readonly verdict: unknown
}
