import type { RecordedMessage, RecordedOutput, RecordedStep, Trace } from '../checker/trace/trace.ts'

/** What stands in the page as JSON: traces, with bytes as base64. */
export interface PageData {
  readonly trace: PackedTrace
  readonly live: PackedTrace | undefined
  /** Where the trace lies, for commands that are to be copied; absent where it lies nowhere. */
  readonly path?: string | undefined
}

/** What stands in a page that is served, with processes behind it. */
export interface Served {
  /** To be shown with whatever is asked. */
  readonly token: string
  /** The step that the processes stand at. */
  readonly at: number
  /** Whether the page shows a branch, which they have taken, and not the trace. */
  readonly isBranch: boolean
}

/** Where the processes stand after they were moved. */
export interface Moved {
  readonly at: number
  readonly isBranch: boolean
  /** What the page is to show from now on, as in the page; absent where that is what it shows. */
  readonly packed?: string
}

/** Where a branch was written. */
export interface Saved {
  readonly path: string
}

/** What became of a program that was run in a node. */
export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface PackedTrace extends Omit<Trace, 'steps'> {
  readonly steps: readonly PackedStep[]
}

/** Without what only a machine compares. */
export interface PackedStep extends Omit<RecordedStep, 'messages' | 'outputs' | 'fingerprint' | 'durationUs'> {
  readonly messages: readonly (Omit<RecordedMessage, 'bytes'> & Base64)[]
  readonly outputs: readonly (Omit<RecordedOutput, 'bytes'> & Base64)[]
}

interface Base64 {
  readonly base64: string
  /** Of the whole, in bytes. */
  readonly length: number
}
