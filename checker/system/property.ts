import { Undecided, UsageError } from './errors.ts'
import { placeInConfiguration } from './frames.ts'
import { beginCall, endCall } from './guest.ts'
import { knownValues } from './known-values.ts'
import { shown, shownState, thrown } from './show.ts'
import type { PropertyKind } from './system.ts'

export type { PropertyKind }

/**
 * `always`: holds in every state (safety). `eventually`: holds again and again, for ever (liveness: always eventually).
 * `sometimes`: holds in some state of some execution. A `sometimes` that never held violates nothing, but shows that
 * the search did not meet what it should have met.
 */
export interface Property<State> {
  readonly kind: PropertyKind
  /**
   * The state predicate. It must be pure and return true or false synchronously. If it throws or returns anything else
   * (a promise, NaN), the configuration is wrong; it does not count as a violation.
   */
  readonly holds: (state: State, carried?: unknown) => boolean
  /**
   * Computes the value that the property carries along an execution: it receives the previous value (undefined at the
   * start) and the state, and returns the next value. It must be pure; its result is kept as JSON and passed to
   * `holds`.
   */
  readonly fold?: ((carried: unknown, state: State) => unknown) | undefined
  /**
   * For `eventually`: how many milliseconds it may be false at most. It is checked only in systems with a common time.
   */
  readonly withinMs?: number | undefined
  /** For `eventually` with `withinMs`: that it is judged in a healthy network alone, by a search. */
  readonly when?: 'healthy' | undefined
  /** Explains a state in which it does not hold, for the message of the violation. */
  readonly explain?: (state: State) => string
  /**
   * Everything that it reads of a node, for a local search. States of a node for which this returns the same JSON are
   * combined with states of other nodes only once. By default it is whatever `holds` is observed to read.
   */
  readonly of?: ((node: NodeOf<State>) => unknown) | undefined
  /** How near a state in which it holds is to one in which it does not, where that is looked for: a larger number is nearer. */
  readonly nearness?: ((state: State, carried: unknown) => number) | undefined
  /** How many things in a state the property is about, if that does not show in what `holds` reads. */
  readonly about?: ((state: State) => number) | undefined
}

/** The type of a node in a state. */
export type NodeOf<State> = State extends { readonly nodes: readonly (infer Node)[] } ? Node : never

/** Options of a safety property beside its predicate. */
export type AlwaysOptions<State> = Pick<Property<State>, 'of'>

/** Safety: `holds` is true in every state of every execution. */
export const always = <State>(holds: Predicate<State>, { of }: AlwaysOptions<State> = {}): Property<State> => ({
  kind: 'always',
  ...predicateOf(holds),
  ...(of && { of }),
})

/** Liveness: from every state of every execution, a state in which `holds` is true is eventually reached. */
export const eventually = <State>(
  holds: Predicate<State>,
  { withinMs, when }: Pick<Property<State>, 'withinMs' | 'when'> = {},
): Property<State> => ({
  kind: 'eventually',
  ...predicateOf(holds),
  ...(withinMs !== undefined && { withinMs }),
  ...(when && { when }),
})

/** The liveness properties that a search judges by walks: not those of a healthy network, which its steps judge. */
export const livenessOf = <State>(properties: Readonly<Record<string, Property<State>>>): string[] =>
  Object.keys(properties).filter(name => properties[name]!.kind === 'eventually' && !properties[name]!.when)

/** The properties that are judged in a healthy network. */
export const healthyOf = <State>(properties: Readonly<Record<string, Property<State>>>): string[] =>
  Object.keys(properties).filter(name => properties[name]!.when === 'healthy')

const folds = Symbol('folds')

/** A predicate. One made by `history` also carries a value along. */
export type Predicate<State> = ((state: State) => boolean) & {
  readonly [folds]?: Pick<Property<State>, 'holds' | 'fold'>
}

/** A predicate over a state and the value that `fold` computed from all states up to and including it. */
export const history = <State, Value>(
  fold: (carried: Value | undefined, state: State) => Value,
  holds: (state: State, carried: Value) => boolean,
): Predicate<State> => {
  const alone = (): never => {
    throw new TypeError('history(…) is evaluated by always(…), eventually(…) and sometimes(…) alone')
  }
  return Object.assign(alone, { [folds]: { holds, fold } as Pick<Property<State>, 'holds' | 'fold'> })
}

const predicateOf = <State>(predicate: Predicate<State>): Pick<Property<State>, 'holds' | 'fold'> =>
  predicate[folds] ?? { holds: predicate }

/**
 * Something that the search should meet: a state in which `holds` is true, in at least one execution. If there was
 * none, a verdict `held` says so, since the properties may not have been put to the test.
 */
export const sometimes = <State>(holds: Predicate<State>): Property<State> => ({
  kind: 'sometimes',
  ...predicateOf(holds),
})

/**
 * Whether a property holds in a state.
 *
 * @param where describes the state in messages: `after step 3 (n1 timer)`
 *
 * @param carried the value that its fold computed from the states up to this one
 *
 * @throws UsageError if the predicate throws, or returns neither true nor false
 *
 * @throws Undecided
 */
export const evaluate = <State>(
  name: string,
  { holds, fold }: Property<State>,
  state: State,
  where: () => string,
  carried?: unknown,
): boolean => {
  if (fold && carried === undefined) throw new Undecided('the states before this one are unknown')
  const known = fold ? undefined : knownValues(state)
  const before = known?.get(holds)
  if (before !== undefined) return before
  const value = called(name, each => holds(each, carried), state, where)
  if (typeof value === 'boolean') {
    known?.set(holds, value)
    return value
  }
  // The promise is not used, so its rejection must not end the process.
  if ((value as unknown) instanceof Promise) (value as Promise<unknown>).catch(() => undefined)
  const found = (value as unknown) instanceof Promise ? 'a promise: it may not be async' : shown(value)
  throw new UsageError(
    `properties.${name}, evaluated ${where()}: expected true or false, found ${found}; the state was ${shownState(state)}`,
  )
}

/** The result of an evaluation; `undefined` if it could not be decided. */
export const decided = <Result>(evaluation: () => Result): Result | undefined => {
  try {
    return evaluation()
  } catch (error) {
    if (error instanceof Undecided) return undefined
    throw error
  }
}

/** A property's explanation of a state in which it does not hold. */
export const explanationOf = <State>(
  name: string,
  { explain }: Property<State>,
  state: State,
  where: () => string,
): string | undefined => explain && String(called(name, explain, state, where))

/**
 * The value that a property carries on from a state.
 *
 * @throws UsageError if its fold throws
 */
export const callFold = <State>(
  name: string,
  { fold }: Property<State>,
  carried: unknown,
  state: State,
  where: () => string,
): unknown => called(name, each => fold!(carried, each), state, where)

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
