import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { Span } from './outages.ts'

/** One call of a client, from the step in which it began to the step in which it returned. */
export interface Call extends Span {
  readonly client: string
  /** The n-th call of this client, from 1. */
  readonly ordinal: number
  /** What the call returned as JSON, possibly shortened. Undefined if it returned nothing or has not returned. */
  readonly result: string | undefined
  /** Message of the error that the call threw. */
  readonly error: string | undefined
}

/** The calls of an execution, in the order in which they began. Empty for an older trace, which records no calls. */
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

/** For example `ann returned "yours"` or `ann threw no leader`. */
export const describeCall = ({ client, result, error }: Call): string =>
  error === undefined ? `${client} returned${result === undefined ? '' : ` ${result}`}` : `${client} threw ${error}`
