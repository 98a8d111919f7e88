import { Undecided, UsageError } from './errors.ts'
import { placeInConfiguration } from './frames.ts'
import { beginCall, endCall } from './guest.ts'
import { shown, shownState, thrown } from './show.ts'

/** `always`: holds in every state (safety). `eventually`: holds again and again, for ever (liveness: always eventually). */
export interface Property<State> {
  readonly kind: 'always' | 'eventually'
  /**
   * The state predicate. It must be pure, and give true or false at once: one that throws, or gives anything else (a
   * promise, NaN), counts as a wrong configuration, not as a violation.
   */
  readonly holds: (state: State) => boolean
  /** Of a state in which it does not hold: what there is about it, for the message of the violation. */
  readonly explain?: (state: State) => string
  /**
   * All that it reads of a node, for a local search: states of a node of which this gives the same, as JSON, are combined
   * with those of other nodes once. By default it is what `holds` is seen to read.
   */
  readonly of?: ((node: NodeOf<State>) => unknown) | undefined
}

/** A node as a state has it. */
export type NodeOf<State> = State extends { readonly nodes: readonly (infer Node)[] } ? Node : never

/** What a property of safety says beside its predicate. */
export type AlwaysOptions<State> = Pick<Property<State>, 'of'>

/** Safety: `holds` is true in every state of every execution. */
export const always = <State>(
  holds: (state: State) => boolean,
  { of }: AlwaysOptions<State> = {},
): Property<State> => ({ kind: 'always', holds, ...(of && { of }) })

/** Liveness: from every state of every execution a state in which `holds` is true is reached in the end. */
export const eventually = <State>(holds: (state: State) => boolean): Property<State> => ({ kind: 'eventually', holds })

/**
 * Whether a property holds in a state.
 *
 * @param where the state is, for a message: `after step 3 (n1 timer)`
 * @throws UsageError where the predicate throws, or gives neither true nor false
 * @throws Undecided
 */
export const evaluate = <State>(
  name: string,
  { holds }: Property<State>,
  state: State,
  where: () => string,
): boolean => {
  const value = called(name, holds, state, where)
  if (typeof value === 'boolean') return value
  // Nobody asks for what comes of it.
  if ((value as unknown) instanceof Promise) (value as Promise<unknown>).catch(() => undefined)
  const found = (value as unknown) instanceof Promise ? 'a promise: it may not be async' : shown(value)
  throw new UsageError(
    `properties.${name}, evaluated ${where()}: expected true or false, found ${found}; the state was ${shownState(state)}`,
  )
}

/** What some evaluation came to; `undefined` where it could not be decided. */
export const decided = <Result>(evaluation: () => Result): Result | undefined => {
  try {
    return evaluation()
  } catch (error) {
    if (error instanceof Undecided) return undefined
    throw error
  }
}

/** What a property says of a state in which it does not hold. */
export const explanationOf = <State>(
  name: string,
  { explain }: Property<State>,
  state: State,
  where: () => string,
): string | undefined => explain && String(called(name, explain, state, where))

const called = <State, Result>(
  name: string,
  predicate: (state: State) => Result,
  state: State,
  where: () => string,
): Result => {
  beginCall(`properties.${name}`)
  try {
    return predicate(state)
  } catch (error) {
    if (error instanceof Undecided) throw error
    const place = placeInConfiguration(error)
    const at = place === undefined ? '' : ` (${place})`
    const what = `properties.${name} threw ${where()}: ${thrown(error)}${at}; the state was ${shownState(state)}`
    throw new UsageError(what, { cause: error })
  } finally {
    endCall()
  }
}
