import type { RecordedMessage, RecordedOutput, RecordedStep, Trace } from '../checker/trace/trace.ts'

/** The JSON in the page: traces, with bytes as base64. */
export interface PageData {
  readonly trace: PackedTrace
  readonly live: PackedTrace | undefined
  /** Path of the trace, for the commands that the page offers to copy. Absent if the trace is in no file. */
  readonly path?: string | undefined
}

/** The extra data of a page that is served and controls processes. */
export interface Served {
  /** The page sends it with each request to prove that the request is its own. */
  readonly token: string
  /** The step at which the processes are. */
  readonly at: number
  /** Whether the page shows a branch that the processes took instead of the trace. */
  readonly isBranch: boolean
}

/** Where the processes are after a move. */
export interface Moved {
  readonly at: number
  readonly isBranch: boolean
  /** New data for the page to show; absent if it shows the right execution already. */
  readonly packed?: string
}

/** The file to which a branch was written. */
export interface Saved {
  readonly path: string
}

/** Result of a program that was run in a node. */
export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface PackedTrace extends Omit<Trace, 'steps'> {
  readonly steps: readonly PackedStep[]
}

/** A step without the fields that only a program compares. */
export interface PackedStep extends Omit<RecordedStep, 'messages' | 'outputs' | 'fingerprint' | 'durationUs'> {
  readonly messages: readonly (Omit<RecordedMessage, 'bytes'> & Base64)[]
  readonly outputs: readonly (Omit<RecordedOutput, 'bytes'> & Base64)[]
}

interface Base64 {
  readonly base64: string
  /** Length of the whole before it was cut, in bytes. */
  readonly length: number
}
