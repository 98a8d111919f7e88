import { readLabel } from '../../../checker/system/labels.ts'
import type { Abstraction, Choice, Finding, System } from '../../../checker/system/system.ts'

/** A choice by its label alone, which tells the rest. */
export interface Labelled extends Pick<Choice, 'kind' | 'node' | 'label' | 'isLocal' | 'afterMs'> {
  /** Of an overlap: labels of choices that it joins. */
  readonly joins?: readonly string[]
  /** Of the beginning of a message: the label of all of it. */
  readonly whole?: string
}

/** The choice of a label. */
export const choiceOf = ({ joins, whole, ...labelled }: Labelled): Choice => {
  const { joins: described = [], ...about } = readLabel(labelled.label)
  return {
    ...about,
    ...labelled,
    ...(whole !== undefined && { whole: choiceOf({ kind: 'deliver', node: labelled.node, label: whole }) }),
    ...(joins && {
      joins: joins.map((label, index) =>
        choiceOf({ kind: described[index]?.kind ?? 'deliver', node: labelled.node, label }),
      ),
    }),
  }
}

/** A choice of a model, with the state that it leads to. */
export interface Transition<State> extends Labelled {
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
  readonly #choices = new Map<string, Choice>()

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

  enabled(): Choice[] {
    return this.transitions().map(transition => ({
      ...this.#aboutOf(transition),
      ...(transition.isLocal && { isLocal: true }),
    }))
  }

  /** What is enabled, with where it leads. */
  transitions(): readonly Transition<State>[] {
    return this.#broken ? [] : this.#transitions(this.#state)
  }

  /** Few labels come again and again. */
  #aboutOf({ next: _, findings: __, ...labelled }: Transition<State>): Choice {
    const known = this.#choices.get(labelled.label)
    if (known?.kind === labelled.kind && known.node === labelled.node && known.afterMs === labelled.afterMs)
      return known
    const choice = choiceOf(labelled)
    this.#choices.set(labelled.label, choice)
    return choice
  }

  async execute(choice: Choice) {
    const transition = this.transitions().find(each => each.label === choice.label)
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
