import { TopologyError } from '../error.ts'
import type { Attributes } from './attributed-graph.ts'
import { parseBandwidth, parseTime } from './units.ts'

/** Reads the attributes of a node or edge. Throws a `TopologyError` with the position of what is wrong. */
export class AttributeReader {
  readonly #where: string
  readonly #attributes: Attributes

  constructor(where: string, attributes: Attributes) {
    this.#where = where
    this.#attributes = attributes
  }

  text(name: string): string | undefined {
    const value = this.#attributes[name]
    return value === undefined || value === '' ? undefined : String(value)
  }

  /** One of several words. */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    return this.#parsed(name, `one of ${words.join(', ')}`, text => words.find(word => word === text))
  }

  number(name: string, what: string, min: number, max = Number.POSITIVE_INFINITY): number | undefined {
    return this.#parsed(name, what, text => {
      const value = Number(text)
      return value >= min && value <= max ? value : undefined
    })
  }

  wholeNumber(name: string, what: string, min: number, max: number): number | undefined {
    const value = this.number(name, what, min, max)
    if (value !== undefined && !Number.isInteger(value)) throw this.error(name, `expected ${what}, found "${value}"`)
    return value
  }

  error(name: string, problem: string): TopologyError {
    return new TopologyError(`${this.#where}: ${name}: ${problem}`)
  }

  /** In milliseconds. */
  time(name: string): number | undefined {
    return this.#parsed(name, 'a time such as "10 ms"', parseTime)
  }

  /** In bits a second. */
  bandwidth(name: string): number | undefined {
    return this.#parsed(name, 'a bandwidth such as "100 Mbit"', text => atLeastOne(parseBandwidth(text)))
  }

  #parsed<T>(name: string, what: string, parse: (text: string) => T | undefined): T | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = parse(text)
    if (value === undefined) throw this.error(name, `expected ${what}, found "${text}"`)
    return value
  }
}

const atLeastOne = (bandwidth: number | undefined) => (bandwidth === undefined || bandwidth < 1 ? undefined : bandwidth)
