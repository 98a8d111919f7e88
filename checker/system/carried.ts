import { UsageError } from './errors.ts'
import { callFold, type Property } from './property.ts'
import { shown } from './show.ts'

/** The values carried up to a state, as JSON, by property. */
export type CarriedMark = ReadonlyMap<string, string>

/**
 * The values that properties carry along an execution. Each fold receives each state once, in order. Values are kept as
 * JSON, so that a fold that changes one in place cannot affect executions that continue from a mark.
 */
export class Carried<State> {
  readonly #folds: readonly (readonly [name: string, property: Property<State>])[]
  #values: Map<string, string>

  constructor(properties: Readonly<Record<string, Property<State>>>, mark: CarriedMark = new Map()) {
    this.#folds = Object.entries(properties).filter(([, { fold }]) => fold !== undefined)
    this.#values = new Map(mark)
  }

  /**
   * Moves on to the next state.
   *
   * @throws UsageError if a fold throws or returns something that JSON cannot hold
   */
  next(state: State, where: () => string): void {
    for (const [name, property] of this.#folds)
      this.#values.set(name, jsonOf(name, callFold(name, property, this.of(name), state, where), where))
  }

  /** A fresh copy of a property's value; undefined if the property carries nothing. */
  of(name: string): unknown {
    const text = this.#values.get(name)
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** Equal if all carried values are equal; empty if nothing is carried. */
  outline(): string {
    return this.#folds.length === 0 ? '' : JSON.stringify([...this.#values])
  }

  mark(): CarriedMark {
    return new Map(this.#values)
  }
}

const jsonOf = (name: string, value: unknown, where: () => string): string => {
  const text = value instanceof Map || value instanceof Set ? undefined : JSON.stringify(value)
  if (text !== undefined) return text
  throw new UsageError(
    `properties.${name}, evaluated ${where()}: expected its history to be a value that JSON can hold, found ${shown(value)}`,
  )
}
