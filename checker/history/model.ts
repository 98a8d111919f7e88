import { isDeepStrictEqual } from 'node:util'
import { UsageError } from '../system/errors.ts'
import type { Operation } from './operation.ts'

/** The sequential behaviour of an object. States are JSON and never changed in place. */
export interface Model<State = unknown> {
  readonly name: string
  readonly initial: State
  /** Names of operations that never change the state. Knowing them makes the search for an order faster. */
  readonly reads: readonly string[]
  /** The state after an operation, or `undefined` if the operation cannot have returned its result in this state. */
  step(state: State, operation: Operation): Next<State> | undefined
}

export interface Next<State> {
  readonly state: State
}

/** What each operation does, by name. */
export type Operations<State> = Readonly<Record<string, Model<State>['step']>>

/** A model with these operations. Any other operation is the caller's mistake and throws a `UsageError`. */
export const modelOf = <State>(
  name: string,
  initial: State,
  operations: Operations<State>,
  reads: readonly string[] = [],
): Model<State> => ({
  name,
  initial,
  reads,
  step: (state, operation) => {
    if (Object.hasOwn(operations, operation.op)) return operations[operation.op]!(state, operation)
    const known = Object.keys(operations).join(', ')
    throw new UsageError(`a ${name} has the operations ${known}, but ${operation.process} asked for "${operation.op}"`)
  },
})

/** Whether an operation may have returned `expected`. True if it returned nothing, or if its outcome is unknown. */
export const mayReturn = ({ outcome, result }: Operation, expected: unknown): boolean =>
  outcome !== 'ok' || isSame(result, expected)

/** An absent value counts as `null`, as in JSON. */
export const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(one ?? null, other ?? null)

/** Many objects of one model, one for each key. */
export const withKeys = <State>(
  model: Model<State>,
  keys: readonly string[],
): Model<Readonly<Record<string, State>>> => ({
  ...model,
  initial: Object.fromEntries(keys.map(key => [key, model.initial])),
  step: (states, operation) => {
    const key = operationKeyOf(operation)
    const next = model.step(states[key]!, operation)
    return next && { state: { ...states, [key]: next.state } }
  },
})

export const operationKeyOf = ({ key }: Operation): string => key ?? ''
