import type { Operation } from '../history/operation.ts'
import type { Choice, Finding, PropertyKind } from '../system.ts'

/**
 * A recorded execution, as the file format carries it (`schema.ts`). What the report and the debugger show and what a
 * replay follows is in here; nothing else is needed to look at an execution.
 */
export interface Trace {
  readonly header: TraceHeader
  /** Steps in order; `steps[0]` is the start of the system. */
  readonly steps: readonly RecordedStep[]
  /** Absent in a torn trace. */
  readonly end: TraceEnd | undefined
  /** Present when the tool ended before the trace did; then `steps` are those that are whole. */
  readonly torn: Tear | undefined
}

export interface Tear {
  /** Where in the file the last whole record ends. */
  readonly byte: number
  /** Index of the last whole step; -1 when not even the start is whole. */
  readonly afterStep: number
}

/** How the execution came about: written first, before anything is executed. */
export interface TraceHeader {
  /** Name of the system. */
  readonly system: string
  /** Versions by name: `lastnail`, `node`, `kernel`. */
  readonly versions: Readonly<Record<string, string>>
  readonly config: ConfigIdentity
  /** A whole number, at least 0. */
  readonly seed: number
  /** Options of the command, as JSON. */
  readonly options: unknown
  readonly nodes: readonly RecordedNode[]
  readonly properties: readonly RecordedProperty[]
  /** Fault budgets of one execution, by kind of choice. */
  readonly faults: Readonly<Record<string, number>>
}

/** Which configuration was executed, and whether it is still the same. */
export interface ConfigIdentity {
  /** Absolute. */
  readonly path: string
  /** Hash of its content, in hex. */
  readonly sha256: string
}

export interface RecordedNode {
  readonly name: string
  readonly command: readonly string[]
  /** Only what the configuration gives the node, not what the tool itself was started with. */
  readonly env: Readonly<Record<string, string>>
  /** Empty for a node that is not a container. */
  readonly image: string
  /** Its IPv4 address; empty in a trace that does not tell. */
  readonly address: string
  /** Hash of the files that it was started with, in hex; empty for a container, and in a trace that does not tell. */
  readonly program: string
}

export interface RecordedProperty {
  readonly name: string
  readonly kind: PropertyKind
}

/** A step with all that could be seen of it from outside. */
export interface RecordedStep {
  /** Counts from 0, the start of the system. */
  readonly index: number
  /** `undefined` for the start alone. */
  readonly choice: RecordedChoice | undefined
  /** Real time that it took; the only field that differs between two executions of one schedule. */
  readonly durationUs: number
  /** What was sent while it ran. */
  readonly messages: readonly RecordedMessage[]
  /** Labels of messages that are gone after it, neither delivered nor dropped by its choice: of a connection that was reset. */
  readonly lost: readonly string[]
  /** When it was executed, in milliseconds since the start; absent where time did not run through the system. */
  readonly atMs?: number | undefined
  /** JSON: what it did because somebody outside asked for it while the system ran. */
  readonly input?: unknown
  /** Virtual clocks that it moved. */
  readonly clocks: readonly RecordedClock[]
  /** All timers that are pending after it. */
  readonly timers: readonly RecordedTimer[]
  /** Nodes that it started or ended; at the start all. Absent in a step that did neither, and in an older trace. */
  readonly lives?: readonly RecordedLife[]
  /** Observed states that it changed. */
  readonly states: readonly RecordedState[]
  /** What nodes wrote while it ran. */
  readonly outputs: readonly RecordedOutput[]
  readonly findings: readonly Finding[]
  /** Of the history, those that it invoked or that returned, as they are after it; `invoked` tells them apart. */
  readonly operations: readonly Operation[]
  /** Calls of clients that it began or ended; absent in a step that did neither, and in a trace that does not tell. */
  readonly calls?: readonly RecordedCall[]
  /** Properties whose value it changed; at the start all of them. */
  readonly properties: readonly PropertyValue[]
  readonly fingerprint: string | undefined
  /**
   * What is enabled after it, as what became of that before: first those are taken away that are `withdrawn`, named by
   * their places in the list so far, then those that are `offered` are put at its end (`enabledAfter`). Both are empty
   * throughout in a trace that does not tell.
   */
  readonly offered: readonly RecordedChoice[]
  readonly withdrawn: readonly number[]
}

/** A choice as a file holds it: `readLabel` tells the rest. */
export interface RecordedChoice extends Pick<Choice, 'kind' | 'node' | 'label'> {
  /** Of an overlap: the labels of the choices that it joins; absent in older traces. */
  readonly joins?: readonly string[]
}

/** A client's call: that it begins, or what it came to. */
export interface RecordedCall {
  readonly client: string
  /** The n-th call of this client, from 1. */
  readonly ordinal: number
  readonly hasEnded: boolean
  /** JSON of what it returned, or its beginning; absent where it returned nothing. */
  readonly result?: string | undefined
  /** Message of what it threw. */
  readonly error?: string | undefined
}

export interface RecordedMessage {
  readonly from: string
  readonly to: string
  /** The n-th from `from` to `to`, from 1. */
  readonly ordinal: number
  /** As the choice that delivers it names it. */
  readonly label: string
  /** `data`, `open`, `close` and so on, as the network names it; empty in a trace that does not tell. */
  readonly kind: string
  /** The payload, or its beginning where the writer cut it. */
  readonly bytes: Uint8Array
  /** Length of the whole payload. */
  readonly length: number
}

export interface RecordedClock {
  readonly node: string
  /** Virtual time since the node's clock was set up, at the start. */
  readonly elapsedMs: number
}

export interface RecordedTimer {
  readonly node: string
  /** Virtual time from now until it is due. */
  readonly deadlineMs: number
}

export interface RecordedLife {
  readonly node: string
  readonly isAlive: boolean
  /** Whether what it wrote before still counts as its output: of one that ended by itself. */
  readonly keepsOutput: boolean
}

export interface RecordedState {
  readonly node: string
  /** JSON; `undefined` where there is none, as of a node that is down. */
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
  /** JSON: what the search concluded of this execution. */
  readonly verdict: unknown
}
