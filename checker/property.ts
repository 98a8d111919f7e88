import { Undecided, UsageError } from './errors.ts'
import { placeInConfiguration } from './frames.ts'
import { beginCall, endCall } from './guest.ts'
import { shown, shownState, thrown } from './show.ts'
import type { PropertyKind } from './system.ts'

export type { PropertyKind }

/**
 * `always`: holds in every state (safety). `eventually`: holds again and again, for ever (liveness: always eventually).
 * `sometimes`: holds in some state of some execution; nothing is violated where it does not, but the search has then not
 * met what it was to meet.
 */
export interface Property<State> {
  readonly kind: PropertyKind
  /**
   * The state predicate. It must be pure, and give true or false at once: one that throws, or gives anything else (a
   * promise, NaN), counts as a wrong configuration, not as a violation.
   */
  readonly holds: (state: State, carried?: unknown) => boolean
  /**
   * What it carries along an execution, from each state to the next: it is given what it gave of the state before, and nothing
   * at the start. It must be pure, and what it gives is held as JSON. `holds` is then given it, too.
   */
  readonly fold?: ((carried: unknown, state: State) => unknown) | undefined
  /**
   * Of `eventually`, for how many milliseconds at most it may not hold: a bound in time, which counts where time runs through
   * the system.
   */
  readonly withinMs?: number | undefined
  /** Of a state in which it does not hold: what there is about it, for the message of the violation. */
  readonly explain?: (state: State) => string
  /**
   * All that it reads of a node, for a local search: states of a node of which this gives the same, as JSON, are combined
   * with those of other nodes once. By default it is what `holds` is seen to read.
   */
  readonly of?: ((node: NodeOf<State>) => unknown) | undefined
  /** How many things of a state it is about, where that is not to be seen by what `holds` reads. */
  readonly about?: ((state: State) => number) | undefined
}

/** A node as a state has it. */
export type NodeOf<State> = State extends { readonly nodes: readonly (infer Node)[] } ? Node : never

/** What a property of safety says beside its predicate. */
export type AlwaysOptions<State> = Pick<Property<State>, 'of'>

/** Safety: `holds` is true in every state of every execution. */
export const always = <State>(holds: Predicate<State>, { of }: AlwaysOptions<State> = {}): Property<State> => ({
  kind: 'always',
  ...predicateOf(holds),
  ...(of && { of }),
})

/** Liveness: from every state of every execution a state in which `holds` is true is reached in the end. */
export const eventually = <State>(
  holds: Predicate<State>,
  { withinMs }: Pick<Property<State>, 'withinMs'> = {},
): Property<State> => ({ kind: 'eventually', ...predicateOf(holds), ...(withinMs !== undefined && { withinMs }) })

const folds = Symbol('folds')

/** A predicate; one that `history` made carries something along. */
export type Predicate<State> = ((state: State) => boolean) & {
  readonly [folds]?: Pick<Property<State>, 'holds' | 'fold'>
}

/** A predicate over a state and over what `fold` made of all states up to it, this one included. */
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
 * Something that the search must meet: a state in which `holds` is true, in at least one execution. Where it never was, a
 * verdict `held` says so: the properties may not have been put to the test.
 */
export const sometimes = <State>(holds: Predicate<State>): Property<State> => ({
  kind: 'sometimes',
  ...predicateOf(holds),
})

/**
 * Whether a property holds in a state.
 *
 * @param where the state is, for a message: `after step 3 (n1 timer)`
 * @param carried what its fold made of the states up to this one
 * @throws UsageError where the predicate throws, or gives neither true nor false
 * @throws Undecided
 */
export const evaluate = <State>(
  name: string,
  { holds, fold }: Property<State>,
  state: State,
  where: () => string,
  carried?: unknown,
): boolean => {
  if (fold && carried === undefined) throw new Undecided('nothing is known of what came before this state')
  const value = called(name, each => holds(each, carried), state, where)
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

/**
 * What a property carries on from a state.
 *
 * @throws UsageError where its fold throws
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
