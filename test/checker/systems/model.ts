import type { Abstraction, Choice, Finding, System } from '../../../checker/system.ts'

/** A choice of a model, with the state that it leads to. */
export interface Transition<State> extends Choice {
  readonly next: () => State
  readonly findings?: readonly Finding[]
}

export interface ModelOptions {
  /** Each state has its own unless `false`: then none has. */
  readonly fingerprints?: boolean
  /** Whether each choice touches nothing but its node. */
  readonly local?: boolean
}

/** A system in memory: an initial state, and the transitions out of each state. States are plain data. */
export class Model<State> implements System<State> {
  resets = 0
  readonly #initial: State
  readonly #transitions: (state: State) => readonly Transition<State>[]
  readonly abstraction: Abstraction
  readonly #fingerprint: (state: State) => string | undefined
  #state: State
  #broken = false

  constructor(
    initial: State,
    transitions: (state: State) => readonly Transition<State>[],
    { local, fingerprints = true }: ModelOptions = {},
    fingerprintOf?: (state: State) => string,
  ) {
    this.#initial = initial
    this.#state = initial
    this.#transitions = local
      ? state => transitions(state).map(transition => ({ ...transition, isLocal: true }))
      : transitions
    // What somebody chose to see of a state may not be all of it.
    this.abstraction = fingerprintOf ? 'observed' : 'whole'
    this.#fingerprint = fingerprints ? (fingerprintOf ?? JSON.stringify) : () => undefined
  }

  async reset() {
    this.resets += 1
    this.#state = this.#initial
    this.#broken = false
    return []
  }

  enabled() {
    return this.#broken ? [] : this.#transitions(this.#state)
  }

  async execute(choice: Choice) {
    const transition = this.enabled().find(each => each.label === choice.label)
    if (!transition) throw new Error(`not enabled: ${choice.label}`)
    this.#state = transition.next()
    this.#broken = (transition.findings ?? []).length > 0
    return { choice, findings: transition.findings ?? [] }
  }

  state() {
    return this.#state
  }

  fingerprint() {
    return this.#fingerprint(this.#state)
  }
}
