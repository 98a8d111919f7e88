/** What a process asked of an object, and what became of it: one operation of a history. Values are JSON. */
export interface Operation {
  /** Who asked. */
  readonly process: string
  /** What it asked for, in the words of a model: `read`, `write`. */
  readonly op: string
  /** Of which object; operations without a key are all of one. */
  readonly key?: string | undefined
  /** What it gave: the value to be written. */
  readonly value?: unknown
  /** `ok`: it returned `result`. `failed`: it did not happen. `unknown`: it may have happened, may yet, or never. */
  readonly outcome: 'ok' | 'failed' | 'unknown'
  readonly result?: unknown
  /** When it was invoked: its place among all that was invoked and that returned. */
  readonly invoked: number
  /** When it returned: it cannot have happened after that. */
  readonly returned?: number | undefined
  /** Indexes of these two steps, where the history is of an execution. */
  readonly invokedAt?: number | undefined
  readonly returnedAt?: number | undefined
}

export const isOk = ({ outcome }: Operation): boolean => outcome === 'ok'

/** After which it cannot have happened any more. */
export const endOf = ({ returned = Number.POSITIVE_INFINITY }: Operation): number => returned

/** The same operation before it returned. */
export const pending = ({ result, returned, returnedAt, ...operation }: Operation): Operation => ({
  ...operation,
  outcome: 'unknown',
})

/** The same operation, of which is not known whether it happened, in its time. */
export const perhaps = (operation: Operation): Operation => ({ ...operation, outcome: 'unknown' })

/** Operations by what `nameOf` says of them, in the order in which the names are first met. */
export const groupBy = (
  operations: readonly Operation[],
  nameOf: (operation: Operation) => string,
): ReadonlyMap<string, readonly Operation[]> => {
  const groups = new Map<string, Operation[]>()
  for (const operation of operations) {
    const name = nameOf(operation)
    const group = groups.get(name)
    if (group) group.push(operation)
    else groups.set(name, [operation])
  }
  return groups
}
