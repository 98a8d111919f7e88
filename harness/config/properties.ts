import * as property from '../../checker/property.ts'
import type { GlobalState, Goal, GoalOf, PropertyOf } from './definition.ts'

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type OfGlobalState = <State = any, Name extends string = string>(
  holds: (state: GlobalState<State, Name>) => boolean,
) => PropertyOf<GlobalState<State, Name>>

/** Safety: `holds` is true in every state of every execution. */
export const always = property.always as unknown as OfGlobalState

/** Liveness: from every state of every execution a state in which `holds` is true is reached in the end. */
export const eventually = property.eventually as unknown as OfGlobalState

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type ToGoal = <State = any, Name extends string = string>(
  name: string,
  holds: (state: GlobalState<State, Name>) => boolean,
) => GoalOf<GlobalState<State, Name>>

/** A goal: what is searched for first, and `name` for it in what the check prints. */
export const reach = ((name: string, holds: Goal['holds']): Goal => ({ name, holds })) as unknown as ToGoal
