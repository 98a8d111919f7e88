import type { Property } from './property.ts'
import type { Sight } from './system.ts'

/** Names of what a search meets of its properties. */
export const propertySight = {
  /** A state in which a `sometimes` property held. */
  met: (property: string) => `${property} was met`,
  /** An `eventually` property was false in some state of an execution. */
  wasFalse: (property: string) => `${property} was false`,
  /** It held after it had been false. */
  again: (property: string) => `${property} held again`,
  /** It held again while a node was down that had been up when it was false. */
  againAfterEnd: (property: string) => `${property} held again after the end of a node`,
  /** It held again while this node was down, which had been up when it was false. */
  againAfterEndOf: (property: string, node: string) => `${property} held again after the end of ${node}`,
  /** Something that a property read was present, that is, neither undefined, null nor empty. */
  found: (property: string, path: string) => `${property} found ${path}`,
  /** Something that a property read was missing. The example says whether it was empty or nothing. */
  missed: (property: string, path: string) => `${property} missed ${path}`,
  /** Something that a property read was present in the last state of an execution. */
  atEnd: (property: string, path: string) => `${property} ended with ${path}`,
} as const

/** A place in the state that a property read, over all executions of a search. */
export interface Subject {
  /** `nodes[].state.log`. `[]` stands for any index, `node()` for a method's result. */
  readonly path: string
  /** States in which the value was present; at least one for each process that executed. */
  readonly found: number
  /** States in which it was missing. */
  readonly missed: number
  /** Executions in whose last state it was present. */
  readonly atEnd: number
  /** How the value was missing: as an empty list or object, or as nothing at all. */
  readonly was: 'empty' | 'nothing'
}

/** The subjects of a property that a search has met. */
export const subjectsOf = (property: string, sights: readonly Sight[]): Subject[] => {
  const countOf = new Map(sights.map(({ what, count }) => [what, count]))
  const prefixes = [propertySight.missed, propertySight.found, propertySight.atEnd].map(name => name(property, ''))
  const paths = sights.flatMap(({ what }) =>
    prefixes.filter(each => what.startsWith(each)).map(each => what.slice(each.length)),
  )
  return [...new Set(paths)].map(path => ({
    path,
    found: countOf.get(propertySight.found(property, path)) ?? 0,
    missed: countOf.get(propertySight.missed(property, path)) ?? 0,
    atEnd: countOf.get(propertySight.atEnd(property, path)) ?? 0,
    was:
      sights.find(({ what }) => what === propertySight.missed(property, path))?.example === 'empty'
        ? 'empty'
        : 'nothing',
  }))
}

/** At most this many places for each property, because a map may have any number of keys. */
const pathsMax = 64
/**
 * A property is always watched in its first 32 states, and afterwards in every 16th, since another branch of it may
 * read more. Watching more often would slow every execution down.
 */
const watchedFirst = 32
const watchedEvery = 16

interface Path {
  isFound: boolean
  missed: number
  was: 'empty' | 'nothing'
}

/**
 * Watches what a predicate reads of the states, and whether it was ever present. Only notes depend on this: the
 * predicate is called once more just for it, and the result is ignored.
 */
export class Subjects<State> {
  readonly #name: string
  readonly #property: Property<State>
  readonly #paths = new Map<string, Path>()
  #found: string[] = []
  #evaluations = 0

  constructor(name: string, property: Property<State>) {
    this.#name = name
    this.#property = property
  }

  see(state: State): void {
    const isPending = [...this.#paths.values()].some(({ isFound }) => !isFound)
    if (this.#evaluations++ >= watchedFirst && !isPending && this.#evaluations % watchedEvery !== 0) return
    for (const [path, value] of this.#readIn(state)) this.#note(path, value)
  }

  /** What is present in the last state of an execution. This does not depend on what the process executed before. */
  sightsAtEnd(state: State): Sight[] {
    const read = [...this.#readIn(state)]
    for (const [path, value] of read) if (!this.#paths.has(path)) this.#note(path, value)
    return read
      .filter(([path, value]) => this.#paths.has(path) && isThere(value))
      .map(([path]) => ({ what: propertySight.atEnd(this.#name, path), count: 1 }))
  }

  /** What the property reads of a state, by path. */
  #readIn(state: State): Map<string, unknown> {
    const { about, holds } = this.#property
    if (about) return new Map([['', about(state) > 0 ? state : []]])
    const seen = new Map<string, unknown>()
    try {
      holds(this.#watch(state, '', new WeakMap(), seen) as State)
    } catch {
      // The property's own evaluation reports the error.
    }
    return seen
  }

  /** What is new since the last call. */
  sights(): Sight[] {
    const found = this.#found.map(path => ({ what: propertySight.found(this.#name, path), count: 1 }))
    this.#found = []
    const missed = [...this.#paths].flatMap(([path, each]) => {
      const { missed: count, was } = each
      each.missed = 0
      return count > 0 ? [{ what: propertySight.missed(this.#name, path), count, example: was }] : []
    })
    return [...found, ...missed]
  }

  #note(path: string, value: unknown): void {
    const known = this.#paths.get(path) ?? { isFound: false, missed: 0, was: 'nothing' }
    if (known.isFound || (this.#paths.size >= pathsMax && !this.#paths.has(path))) return
    this.#paths.set(path, known)
    if (isThere(value)) {
      known.isFound = true
      this.#found.push(path)
      return
    }
    known.missed += 1
    if (isObject(value)) known.was = 'empty'
  }

  /** @param seen is filled with the values read, by path; of several values at one path, one that was present */
  #watch(value: unknown, path: string, proxies: WeakMap<object, unknown>, seen: Map<string, unknown>): unknown {
    // Only plain data can be read through a proxy. A Map, or a frozen object, is read directly.
    if (!isPlain(value) || Object.isFrozen(value)) return value
    const known = proxies.get(value)
    if (known) return known
    const proxy = new Proxy(value, {
      get: (target, key, receiver) => {
        const read: unknown = Reflect.get(target, key)
        if (typeof key === 'symbol' || key === 'length') return read
        if (typeof read === 'function') {
          if (!Object.hasOwn(target, key)) return read
          return (...args: unknown[]) =>
            this.#watch(read.apply(receiver, args), `${dotted(path, key)}()`, proxies, seen)
        }
        const at = Array.isArray(target) && /^\d+$/.test(key) ? `${path}[]` : dotted(path, key)
        if (!isThere(seen.get(at))) seen.set(at, read)
        return this.#watch(read, at, proxies, seen)
      },
    })
    proxies.set(value, proxy)
    return proxy
  }
}

const dotted = (path: string, key: string) => (path === '' ? key : `${path}.${key}`)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const isPlain = (value: unknown): value is object =>
  isObject(value) && (Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value)))

/** Neither undefined, null nor empty. */
const isThere = (value: unknown): boolean =>
  isPlain(value) ? Object.keys(value).length > 0 : value !== undefined && value !== null && value !== ''
