/** How near a state came, by a measure of the property that was looked at, and after which step that was. */
export interface Nearest {
  readonly score: number
  readonly step: number
}

/**
 * How many different places of a state a predicate reads before it answers. Of conditions that are joined by `&&`, the more
 * hold, the more it reads; of others this says little.
 */
export const readsOf = <State>(predicate: (state: State) => unknown, state: State): number => {
  const seen = new Set<string>()
  try {
    predicate(watched(state, '', seen) as State)
  } catch {
    // Its own evaluation reports an error. What cannot be watched, a Map for example, is read as it is.
  }
  return seen.size
}

const watched = (value: unknown, path: string, seen: Set<string>): unknown => {
  if (!isPlain(value) || Object.isFrozen(value)) return value
  return new Proxy(value, {
    get: (target, key, receiver) => {
      const read: unknown = Reflect.get(target, key)
      if (typeof key === 'symbol') return read
      const at = `${path}.${key}`
      // A method of the language, of a list for example, reads through the proxy.
      if (typeof read === 'function' && !Object.hasOwn(target, key)) return read
      if (typeof read === 'function')
        return (...args: unknown[]) => watched(read.apply(receiver, args), `${at}(${args.join()})`, seen)
      seen.add(at)
      return watched(read, at, seen)
    },
  })
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  (Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value)))
