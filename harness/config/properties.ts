import * as property from '../../checker/property.ts'
import type { GlobalState } from './definition.ts'

// Typed for the states of real systems, since TypeScript cannot infer a state through the definition around a property.

// biome-ignore lint/suspicious/noExplicitAny: as in GlobalState
type OfGlobalState = <State = any>(
  holds: (state: GlobalState<State>) => boolean,
) => property.Property<GlobalState<State>>

/** Safety: `holds` is true in every state of every execution. */
export const always: OfGlobalState = property.always

/** Liveness: from every state of every execution a state in which `holds` is true is reached in the end. */
export const eventually: OfGlobalState = property.eventually
