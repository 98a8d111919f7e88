import type { Property } from './property.ts'
import type { Sight } from './system.ts'

/** How things are called that a search meets of its properties. */
export const propertySight = {
  /** A state in which a property `sometimes` held. */
  met: (property: string) => `${property} was met`,
  /** Something that a property read, and that was there: neither nothing nor empty. */
  found: (property: string, path: string) => `${property} found ${path}`,
  /** The same, and it was not; the example says which of the two. */
  missed: (property: string, path: string) => `${property} missed ${path}`,
} as const

/** What a property has looked for at one place of a state, over all executions of a search. */
export interface Subject {
  /** `nodes[].state.log`; `[]` stands for any index, `node()` for what a method gives. */
  readonly path: string
  /** States in which it was seen to be there; at least one is counted for each process that executes. */
  readonly found: number
  /** States in which it was not. */
  readonly missed: number
  /** In one of these: a list or an object without anything in it, or nothing at all. */
  readonly was: 'empty' | 'nothing'
}

/** What a search has met of a property's subjects. */
export const subjectsOf = (property: string, sights: readonly Sight[]): Subject[] => {
  const countOf = new Map(sights.map(({ what, count }) => [what, count]))
  const prefix = propertySight.missed(property, '')
  const foundPrefix = propertySight.found(property, '')
  const paths = sights.flatMap(({ what }) =>
    [prefix, foundPrefix].filter(each => what.startsWith(each)).map(each => what.slice(each.length)),
  )
  return [...new Set(paths)].map(path => ({
    path,
    found: countOf.get(propertySight.found(property, path)) ?? 0,
    missed: countOf.get(propertySight.missed(property, path)) ?? 0,
    was:
      sights.find(({ what }) => what === propertySight.missed(property, path))?.example === 'empty'
        ? 'empty'
        : 'nothing',
  }))
}

/** Of each property, so many places of a state at most: maps may have any number of keys. */
const pathsMax = 64
/** A property is always watched in its first states, and after that in every so-many-th: another branch of it may read more. */
const watchedFirst = 32
const watchedEvery = 16

interface Path {
  isFound: boolean
  missed: number
  was: 'empty' | 'nothing'
}

/**
 * Watches what a predicate reads of the states in which it is evaluated, and whether that is ever there. Nothing depends on
 * it but notes: the predicate is called for this alone, and whatever it does then counts for nothing.
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
    const { about, holds } = this.#property
    if (about) return this.#note('', about(state) > 0 ? state : [])
    const isPending = [...this.#paths.values()].some(({ isFound }) => !isFound)
    if (this.#evaluations++ >= watchedFirst && !isPending && this.#evaluations % watchedEvery !== 0) return
    const seen = new Map<string, unknown>()
    try {
      holds(this.#watch(state, '', new WeakMap(), seen) as State)
    } catch {
      // What throws is told where the property is evaluated.
    }
    for (const [path, value] of seen) this.#note(path, value)
  }

  /** What is new since it was asked last. */
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

  /** @param seen the values that were read, by path: one that was there, where one of several was */
  #watch(value: unknown, path: string, proxies: WeakMap<object, unknown>, seen: Map<string, unknown>): unknown {
    // Only plain data can be read through something else: a Map, or what cannot change, is read as it is.
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

/** Neither nothing nor empty. */
const isThere = (value: unknown): boolean =>
  isPlain(value) ? Object.keys(value).length > 0 : value !== undefined && value !== null && value !== ''
