import { readLabel, visitIn } from '../../checker/system/labels.ts'
import type { ChoiceKind } from '../../checker/system/system.ts'
import { guardedKinds } from './interventions.ts'
import type { ViolatedProperty } from './violated.ts'

/** The step with which a known bug violates something. */
export interface FatalStep {
  readonly property: ViolatedProperty
  readonly label: string
}

/** A step as it comes again: on whatever node, with whatever numbers. */
interface Likeness {
  readonly kind: ChoiceKind | undefined
  readonly subject: string
}

/** The known bugs against which a run is guarded. */
export class Guard {
  readonly #known: readonly (Likeness & Pick<FatalStep, 'property'>)[]

  constructor(fatal: readonly FatalStep[]) {
    this.#known = fatal.flatMap(({ property, label }) => likenessesOf(label).map(each => ({ property, ...each })))
  }

  /** Whether something can be done against a fatal step. */
  static canGuard({ label }: FatalStep): boolean {
    return likenessesOf(label).every(({ kind }) => kind !== undefined && guardedKinds.includes(kind))
  }

  /** Whether a step may be the fatal one of a known bug. */
  watches(label: string): boolean {
    return this.#like(label).length > 0
  }

  /** Whether a violation of a property by a step is a known bug. */
  knows(label: string, property: ViolatedProperty): boolean {
    return this.#like(label).some(known => known.property === property)
  }

  #like(label: string): readonly Pick<FatalStep, 'property'>[] {
    const { kind, subject } = readLabel(label)
    // A client's call of a trace does not say what was sent, so it may be anything that a real client sends.
    const isVisit = visitIn(label) !== undefined
    return this.#known.filter(known => known.kind === kind && (known.subject === subject || isVisit))
  }
}

/** Of inputs that entered a node at once, each. */
const likenessesOf = (label: string): readonly Likeness[] => {
  const described = readLabel(label)
  return (described.joins ?? [described]).map(({ kind, subject }) => ({ kind, subject }))
}
