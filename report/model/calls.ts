import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { Span } from './outages.ts'

/** What a client asked for, and what it saw: from the step in which it began to the one in which it had its answer. */
export interface Call extends Span {
  readonly client: string
  /** The n-th call of this client, from 1. */
  readonly ordinal: number
  /** JSON of what it returned, or its beginning; undefined where it returned nothing, or has not returned. */
  readonly result: string | undefined
  /** Message of what it threw. */
  readonly error: string | undefined
}

/** The calls of an execution, in the order in which they began; a trace that does not tell of calls has none. */
export const callsOf = (steps: readonly RecordedStep[]): Call[] => {
  const calls = new Map<string, Call>()
  for (const { index, calls: changed = [] } of steps) {
    for (const { client, ordinal, hasEnded, result, error } of changed) {
      const key = `${ordinal} ${client}`
      const from = calls.get(key)?.from ?? index
      calls.set(key, { client, ordinal, from, to: hasEnded ? index : undefined, result, error })
    }
  }
  return [...calls.values()]
}

/** In few words: `ann: "yours"`, `ann threw no leader`. */
export const describeCall = ({ client, result, error }: Call): string =>
  error === undefined ? `${client} returned${result === undefined ? '' : ` ${result}`}` : `${client} threw ${error}`
