/** One read of a value: of the value at this path, or of its keys. */
interface Read {
  readonly path: readonly string[]
  readonly what: 'value' | 'keys'
}

/**
 * Watches what a predicate reads of values. Two values look the same to the predicate if they agree in everything that
 * it ever read. Values must be plain data.
 */
export class Reads {
  readonly #reads = new Map<string, Read>()

  /** How many different reads there were. It grows with each first read of a field. */
  get count(): number {
    return this.#reads.size
  }

  /** The value behind a proxy that records reads. */
  watch(value: unknown): unknown {
    return this.#watch(value, [])
  }

  /** Equal for values that agree in everything read so far. */
  keyOf(value: unknown): string {
    if (!isObject(value)) return JSON.stringify(shown(value, 'value'))
    return JSON.stringify([...this.#reads.values()].map(({ path, what }) => shown(at(value, path), what)))
  }

  #watch(value: unknown, path: readonly string[]): unknown {
    if (!isObject(value)) return value
    return new Proxy(value, {
      get: (target, key) => {
        const read = Reflect.get(target, key)
        // A method's reads are recorded when it is called on the proxy.
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

/** An object counts only by what is read inside of it. */
const shown = (value: unknown, what: Read['what']): unknown => {
  if (what === 'keys') return isObject(value) ? Object.keys(value) : null
  if (isObject(value)) return Array.isArray(value) ? ['array'] : ['object']
  return typeof value === 'bigint' || value === undefined || Number.isNaN(value) ? [String(value)] : value
}
