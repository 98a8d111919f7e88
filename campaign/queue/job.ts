import { deserialize, serialize } from 'node:v8'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Task, TaskOutcome } from '../../checker/cells/task.ts'

/** A task, and which random numbers the nodes draw in it. */
export interface AskedTask {
  readonly task: Task
  readonly variant: number
}

/**
 * Some tasks of one search, as plain data. A job has the same result wherever and however often it is done. So it is
 * repeated whenever it is not known whether it was done.
 */
export interface Job {
  /** Of which campaign, for a worker of several: programs may have changed since the one before. */
  readonly campaign?: string | undefined
  /** Path of the configuration, as the campaign names it. */
  readonly config: string
  /** Evaluates only this property. */
  readonly property?: string | undefined
  /** Seed of the nodes' random numbers. */
  readonly seed: number
  /** What the nodes' clocks show first. */
  readonly clocksStart: string
  readonly tasks: readonly AskedTask[]
}

/** The result of a task: an outcome, or why there is none. */
export type JobAnswer =
  | { readonly outcome: TaskOutcome; readonly notes: readonly string[] }
  | { readonly failure: unknown }

/** Encodes answers as text for a queue. Outcomes contain maps, and compress well because labels repeat. */
export const encodeAnswers = (answers: readonly JobAnswer[]): string =>
  gzipSync(serialize(answers), { level: 1 }).toString('base64')

export const decodeAnswers = (text: string): JobAnswer[] => deserialize(gunzipSync(Buffer.from(text, 'base64')))
