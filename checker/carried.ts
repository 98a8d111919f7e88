import { UsageError } from './errors.ts'
import { callFold, type Property } from './property.ts'
import { shown } from './show.ts'

/** What was carried up to a state, as JSON, by property. */
export type CarriedMark = ReadonlyMap<string, string>

/**
 * What properties carry along an execution: their folds are given each state once, in order. Values are kept as JSON, so
 * that nothing that a fold does to one reaches an execution that goes on from a mark.
 */
export class Carried<State> {
  readonly #folds: readonly (readonly [name: string, property: Property<State>])[]
  #values: Map<string, string>

  constructor(properties: Readonly<Record<string, Property<State>>>, mark: CarriedMark = new Map()) {
    this.#folds = Object.entries(properties).filter(([, { fold }]) => fold !== undefined)
    this.#values = new Map(mark)
  }

  /**
   * Goes on to a state.
   *
   * @throws UsageError where a fold throws, or gives what JSON cannot hold
   */
  next(state: State, where: () => string): void {
    for (const [name, property] of this.#folds)
      this.#values.set(name, jsonOf(name, callFold(name, property, this.of(name), state, where), where))
  }

  /** A value of its own for whoever asks; undefined of a property that carries nothing. */
  of(name: string): unknown {
    const text = this.#values.get(name)
    return text === undefined ? undefined : JSON.parse(text)
  }

  /** Equal where all that is carried is; empty where nothing is. */
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
