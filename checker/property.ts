/** `always`: holds in every state (safety). `eventually`: holds again and again, for ever (liveness: always eventually). */
export interface Property<State> {
  readonly kind: 'always' | 'eventually'
  /** The state predicate. It must be pure; a predicate that throws counts as a wrong configuration, not as a violation. */
  readonly holds: (state: State) => boolean
  /** Of a state in which it does not hold: what there is about it, for the message of the violation. */
  readonly explain?: (state: State) => string
}

/** Safety: `holds` is true in every state of every execution. */
export const always = <State>(holds: (state: State) => boolean): Property<State> => ({ kind: 'always', holds })

/** Liveness: from every state of every execution a state in which `holds` is true is reached in the end. */
export const eventually = <State>(holds: (state: State) => boolean): Property<State> => ({ kind: 'eventually', holds })
