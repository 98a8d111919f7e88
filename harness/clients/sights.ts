import { groupBy, type Operation } from '../../checker/history/operation.ts'
import { shown } from '../../checker/system/show.ts'
import type { Sight } from '../../checker/system/system.ts'
import type { KnownCall } from './calls.ts'

/** Names of what an execution may meet. */
export const sightOf = {
  call: (client: string) => `${client} called`,
  result: (client: string) => `${client} returned`,
  error: (client: string) => `${client} threw`,
  /** A call that returned although its last HTTP response was an error. */
  refusal: (client: string) => `${client} was refused`,
  /** A state in which a bound of the configuration held back the earliest timer of a node. */
  heldBack: (by: 'delay' | 'clocks', node: string) => `${by} held back ${node}`,
  state: (node: string) => `state of ${node}`,
  /** A call or operation that returned this value. */
  value: (caller: string, value: string) => `${caller} returned ${value}`,
  operation: (name: string) => `operation ${name}`,
} as const

/** The results of one client's calls. */
export const callSights = (calls: readonly KnownCall[], client: string): Sight[] => {
  const ended = calls.filter(({ completedAt }) => completedAt !== undefined)
  const failed = ended.filter(({ error }) => error !== undefined)
  const refused = ended.filter(({ error, refusal }) => error === undefined && refusal !== undefined)
  const sights = [
    { what: sightOf.call(client), count: calls.length },
    { what: sightOf.result(client), count: ended.length - failed.length },
    { what: sightOf.error(client), count: failed.length, ...(failed[0] && { example: failed[0].error! }) },
    { what: sightOf.refusal(client), count: refused.length, ...(refused[0] && { example: refused[0].refusal! }) },
  ]
  const values = ended.flatMap(({ error, value }) => (error === undefined && value !== undefined ? [value] : []))
  return [...sights.filter(({ count }) => count > 0), ...valueSights(client, values)]
}

/** The operations of a history and their results, by the name of the operation. */
export const operationSights = (history: readonly Operation[]): Sight[] =>
  [...groupBy(history, ({ op }) => op)].flatMap(([op, operations]) => {
    const what = sightOf.operation(op)
    const results = operations.flatMap(({ outcome, result }) => (outcome === 'ok' ? [result] : []))
    return [{ what, count: operations.length }, ...valueSights(what, results)]
  })

/** Counts equal values. They are one group, because every call may return another value. */
const valueSights = (caller: string, values: readonly unknown[]): Sight[] => {
  const counts = new Map<string, number>()
  for (const value of values) {
    const text = value === undefined ? 'nothing' : shown(value, valueLengthMax)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return [...counts].map(([text, count]) => ({ what: sightOf.value(caller, text), count, group: caller }))
}

const valueLengthMax = 40
