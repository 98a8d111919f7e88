import * as property from '../../checker/property.ts'
import type { GlobalState, Goal, GoalOf, NodeView, PropertyOf } from './definition.ts'

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

/** Liveness: from every state of every execution a state in which `holds` is true is reached in the end. */
export const eventually = property.eventually as unknown as OfGlobalState

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type ToGoal = <State = any, Name extends string = string>(
  name: string,
  holds: (state: GlobalState<State, Name>) => boolean,
) => GoalOf<GlobalState<State, Name>>

/** A goal: what is searched for first, and `name` for it in what the check prints. */
export const reach = ((name: string, holds: Goal['holds']): Goal => ({ name, holds })) as unknown as ToGoal
