/** The same record; to ask it for a name that is not in it throws what `refuse` makes of the name. */
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

/** By JavaScript itself: whether it is a promise, how it is shown as JSON. */
const asked = new Set(['then', 'toJSON'])
