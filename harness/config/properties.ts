import * as property from '../../checker/system/property.ts'
import { parseTime } from '../../topologies/formats/units.ts'
import type { Duration, GlobalState, Goal, GoalOf, NodeView, PropertyOf } from './definition.ts'
import { ConfigError } from './error.ts'

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type OfGlobalState<Options extends readonly unknown[] = []> = <State = any, Name extends string = string>(
  holds: (state: GlobalState<State, Name>) => boolean,
  ...options: Options
) => PropertyOf<GlobalState<State, Name>>

/** Returns everything that the predicate reads of a node. */
// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type Of = { readonly of?: ((node: NodeView<any>) => unknown) | undefined }

/**
 * Safety: `holds` is true in every state of every execution. `of` helps a local search, which combines states of single
 * nodes: states for which it returns the same are combined once. By default it is whatever `holds` is observed to read.
 */
export const always = property.always as unknown as OfGlobalState<[options?: Of]>

/** How long it may take until it holds again: `30s`. */
type Within = {
  readonly within?: Duration | undefined
  /** `healthy`: the system must come to it by itself, within `within`, wherever a search makes the network healthy. */
  readonly when?: 'healthy' | undefined
}

const eventuallyWithin = (holds: property.Predicate<GlobalState>, { within, when }: Within = {}) => {
  const withinMs = within === undefined ? undefined : parseTime(within)
  if (when !== undefined && (when !== 'healthy' || withinMs === undefined))
    throw new ConfigError([
      `eventually: when: expected 'healthy' and a bound, as in { when: 'healthy', within: '30s' }, found ${JSON.stringify({ when, within })}`,
    ])
  if (when !== undefined && withinMs !== undefined && withinMs > 0)
    return property.eventually(holds, { withinMs, when })
  if (withinMs !== undefined && withinMs > 0) return property.eventually(holds, { withinMs })
  if (within === undefined) return property.eventually(holds)
  throw new ConfigError([
    `eventually: within: expected a duration such as '500ms', '60s', '10m' or '1h', found ${JSON.stringify(within)}`,
  ])
}

/**
 * Liveness: from every state of every execution, a state in which `holds` is true is eventually reached. `within`
 * limits how long that may take in an emulated run (`lastnail emulate`). A search does not judge it, because there messages
 * may be arbitrarily late. With `when: 'healthy'` a search alone judges it: after any of its steps, in a healthy network with
 * clocks that go together and without faults or calls, `holds` must be true within that time.
 */
export const eventually = eventuallyWithin as unknown as OfGlobalState<[options?: Within]>

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type History = <Value, State = any, Name extends string = string>(
  fold: (carried: Value | undefined, state: GlobalState<State, Name>) => Value,
  holds: (state: GlobalState<State, Name>, carried: Value) => boolean,
) => (state: GlobalState<State, Name>) => boolean

/**
 * A predicate for `always` or `eventually` over more than one state. `fold` receives each state of an execution once,
 * in order, with its previous result (`undefined` at the start), and `holds` receives the latest result. Both must be
 * pure. Results of `fold` are kept as JSON.
 */
export const history = property.history as unknown as History

/**
 * Something that the search should meet: `holds` is true in some state of some execution. If it never was, a verdict
 * `held` says so, because the other properties may then not have been put to the test.
 */
export const sometimes = property.sometimes as unknown as OfGlobalState

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type ToGoal = <State = any, Name extends string = string>(
  name: string,
  holds: (state: GlobalState<State, Name>) => boolean,
) => GoalOf<GlobalState<State, Name>>

/** A goal for which the search looks first, with the name that the check prints for it. */
export const reach = ((name: string, holds: Goal['holds']): Goal => ({ name, holds })) as unknown as ToGoal
