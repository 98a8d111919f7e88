import * as property from '../../checker/property.ts'
import type { GlobalState, PropertyOf } from './definition.ts'

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type OfGlobalState = <State = any, Name extends string = string>(
  holds: (state: GlobalState<State, Name>) => boolean,
) => PropertyOf<GlobalState<State, Name>>

/** Safety: `holds` is true in every state of every execution. */
export const always = property.always as unknown as OfGlobalState

/** Liveness: from every state of every execution a state in which `holds` is true is reached in the end. */
export const eventually = property.eventually as unknown as OfGlobalState
