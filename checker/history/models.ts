import { isSame, type Model, mayReturn, modelOf, type Next } from './model.ts'

/** Values are JSON; an absent value is `null`. */

/**
 * `write` a value; `read` → the value; `cas` with `[expected, value]` → whether the value was `expected` and has been
 * replaced.
 */
export const register = (initial: unknown = null): Model =>
  modelOf<unknown>(
    'register',
    initial,
    {
      write: (_, { value }) => to(value),
      read: (state, operation) => where(mayReturn(operation, state), state),
      cas: (state, operation) => {
        const [expected, value] = operation.value as readonly [unknown, unknown]
        const matches = isSame(state, expected)
        return where(mayReturn(operation, matches), matches ? value : state)
      },
    },
    ['read'],
  )

/** For one key: `put` a value; `get` → the value, or nothing; `delete`. */
export const map = (): Model =>
  modelOf<unknown>(
    'map',
    null,
    {
      put: (_, { value }) => to(value),
      get: (state, operation) => where(mayReturn(operation, state), state),
      delete: () => to(null),
    },
    ['get'],
  )

/** First in, first out: `enqueue` a value; `dequeue` → the oldest value, or nothing if the queue is empty. */
export const queue = (): Model<readonly unknown[]> =>
  modelOf<readonly unknown[]>('queue', [], {
    enqueue: (values, { value }) => to([...values, value ?? null]),
    dequeue: ([oldest, ...others], operation) => where(mayReturn(operation, oldest), others),
  })

/**
 * One process holds it at a time: `acquire` → `false` if any process already holds it; `release` → `false` if this
 * process does not hold it. Any other result means success.
 */
export const lock = (): Model<string | null> => {
  const doneIf = (isPossible: boolean, holder: string | null, next: string | null, isRefused: boolean) =>
    where(isPossible !== isRefused, isRefused ? holder : next)
  return modelOf<string | null>('lock', null, {
    acquire: (holder, { process, result }) => doneIf(holder === null, holder, process, result === false),
    release: (holder, { process, result }) => doneIf(holder === process, holder, null, result === false),
  })
}

const to = <State>(state: State): Next<State> => ({ state })

const where = <State>(isPossible: boolean, state: State): Next<State> | undefined =>
  isPossible ? { state } : undefined
