/** Values of predicates, by the state in which each was evaluated. */
const known = new WeakMap<object, Map<unknown, boolean>>()

/**
 * Says that a state stays as it is, so each predicate is evaluated in it once, whoever asks: predicates are pure. An object that a system
 * changes in its steps must not be given here.
 */
export const staysAsItIs = <State extends object>(state: State): State => {
  known.set(state, new Map())
  return state
}

/** The values that are known in a state; `undefined` unless it stays as it is. */
export const knownValues = (state: unknown): Map<unknown, boolean> | undefined =>
  typeof state === 'object' && state !== null ? known.get(state) : undefined
