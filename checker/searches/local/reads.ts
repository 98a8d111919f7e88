/** What was read of a value: at this path the value itself, or which keys it has. */
interface Read {
  readonly path: readonly string[]
  readonly what: 'value' | 'keys'
}

/**
 * Watches what a predicate reads of values, so that those are the same to it which are alike in all that it ever read. A
 * value must be plain data.
 */
export class Reads {
  readonly #reads = new Map<string, Read>()

  /** How much was read: it grows when something is read for the first time. */
  get count(): number {
    return this.#reads.size
  }

  /** The value, read through this. */
  watch(value: unknown): unknown {
    return this.#watch(value, [])
  }

  /** Equal for values that are alike in all that was read. */
  keyOf(value: unknown): string {
    if (!isObject(value)) return JSON.stringify(shown(value, 'value'))
    return JSON.stringify([...this.#reads.values()].map(({ path, what }) => shown(at(value, path), what)))
  }

  #watch(value: unknown, path: readonly string[]): unknown {
    if (!isObject(value)) return value
    return new Proxy(value, {
      get: (target, key) => {
        const read = Reflect.get(target, key)
        // A method reads by what it is called on.
        if (typeof key === 'symbol' || typeof read === 'function') return read
        return this.#watch(read, this.#note(path, key))
      },
      has: (target, key) => {
        if (typeof key === 'string') this.#note(path, key)
        return Reflect.has(target, key)
      },
      ownKeys: target => {
        this.#add({ path, what: 'keys' })
        return Reflect.ownKeys(target)
      },
    })
  }

  #note(path: readonly string[], key: string): readonly string[] {
    const read = [...path, key]
    this.#add({ path: read, what: 'value' })
    return read
  }

  #add(read: Read): void {
    const key = JSON.stringify([read.what, ...read.path])
    if (!this.#reads.has(key)) this.#reads.set(key, read)
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const at = (value: unknown, path: readonly string[]): unknown =>
  path.reduce(
    (inner, key) => (inner === undefined || inner === null ? undefined : Reflect.get(Object(inner), key)),
    value,
  )

/** An object is told by what is read in it. */
const shown = (value: unknown, what: Read['what']): unknown => {
  if (what === 'keys') return isObject(value) ? Object.keys(value) : null
  if (isObject(value)) return Array.isArray(value) ? ['array'] : ['object']
  return typeof value === 'bigint' || value === undefined || Number.isNaN(value) ? [String(value)] : value
}
