/** A view of a record in which reading an unknown name throws what `refuse` makes of it. */
export const namedAlone = <Value>(
  record: Readonly<Record<string, Value>>,
  refuse: (name: string) => Error,
): Readonly<Record<string, Value>> =>
  new Proxy(record, {
    get: (target, key, receiver) => {
      if (typeof key === 'string' && !(key in target) && !asked.has(key)) throw refuse(key)
      return Reflect.get(target, key, receiver)
    },
  })

/** Names that JavaScript itself reads: to see whether it is a promise, and how to show it as JSON. */
const asked = new Set(['then', 'toJSON'])
