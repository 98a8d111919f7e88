import { deserialize, serialize } from 'node:v8'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Task, TaskOutcome } from '../../checker/cells/task.ts'

/** A task with which random numbers the nodes draw in it. */
export interface Asked {
  readonly task: Task
  readonly variant: number
}

/**
 * Some tasks of one search, as plain data. Whoever does a job, and however often, it comes to the same: so it may be done
 * again whenever it is not known whether it was done.
 */
export interface Job {
  /** Path of the configuration, as the campaign names it. */
  readonly config: string
  /** Evaluates this property alone. */
  readonly property?: string | undefined
  /** Of the randomness of the nodes. */
  readonly seed: number
  readonly tasks: readonly Asked[]
}

/** What came of a task: an outcome, or why there is none. */
export type Answer =
  | { readonly outcome: TaskOutcome; readonly notes: readonly string[] }
  | { readonly failure: unknown }

/** As text, for a queue. Outcomes hold maps, and are mostly the same labels again and again. */
export const encode = (answers: readonly Answer[]): string =>
  gzipSync(serialize(answers), { level: 1 }).toString('base64')

export const decode = (text: string): Answer[] => deserialize(gunzipSync(Buffer.from(text, 'base64')))
