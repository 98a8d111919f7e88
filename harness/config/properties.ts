import * as property from '../../checker/property.ts'
import { parseTime } from '../../topologies/formats/units.ts'
import type { Duration, GlobalState, Goal, GoalOf, NodeView, PropertyOf } from './definition.ts'
import { ConfigError } from './error.ts'

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type OfGlobalState<Options extends readonly unknown[] = []> = <State = any, Name extends string = string>(
  holds: (state: GlobalState<State, Name>) => boolean,
  ...options: Options
) => PropertyOf<GlobalState<State, Name>>

/** Says of a node, as a state has it, all that the predicate reads of it. */
// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type Of = { readonly of?: ((node: NodeView<any>) => unknown) | undefined }

/**
 * Safety: `holds` is true in every state of every execution. `of` is for a local search, which combines states of single
 * nodes: those of which it gives the same are combined once. By default it is what `holds` is seen to read.
 */
export const always = property.always as unknown as OfGlobalState<[options?: Of]>

/** How long it may take at most until it holds again: `30s`. */
type Within = { readonly within?: Duration | undefined }

const eventuallyWithin = (holds: property.Predicate<GlobalState>, { within }: Within = {}) => {
  const withinMs = within === undefined ? undefined : parseTime(within)
  if (withinMs !== undefined && withinMs > 0) return property.eventually(holds, { withinMs })
  if (within === undefined) return property.eventually(holds)
  throw new ConfigError([
    `eventually: within: expected a duration such as '500ms', '60s', '10m' or '1h', found ${JSON.stringify(within)}`,
  ])
}

/**
 * Liveness: from every state of every execution a state in which `holds` is true is reached in the end. `within` bounds how
 * long that may take, where time runs through the system (`lastnail emulate`); a search, which lets messages be as late as it
 * likes, does not look at it.
 */
export const eventually = eventuallyWithin as unknown as OfGlobalState<[options?: Within]>

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type History = <Value, State = any, Name extends string = string>(
  fold: (carried: Value | undefined, state: GlobalState<State, Name>) => Value,
  holds: (state: GlobalState<State, Name>, carried: Value) => boolean,
) => (state: GlobalState<State, Name>) => boolean

/**
 * A predicate for `always` or `eventually` over more than one state: `fold` is given each state of an execution once, in
 * order, with what it gave of the one before (`undefined` at the start), and `holds` is given what it gave. Both must be pure;
 * what `fold` gives is held as JSON.
 */
export const history = property.history as unknown as History

/**
 * Something that the search must meet: `holds` is true in some state of some execution. A verdict `held` says where it never
 * was: the other properties may then not have been put to the test.
 */
export const sometimes = property.sometimes as unknown as OfGlobalState

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type ToGoal = <State = any, Name extends string = string>(
  name: string,
  holds: (state: GlobalState<State, Name>) => boolean,
) => GoalOf<GlobalState<State, Name>>

/** A goal: what is searched for first, and `name` for it in what the check prints. */
export const reach = ((name: string, holds: Goal['holds']): Goal => ({ name, holds })) as unknown as ToGoal
