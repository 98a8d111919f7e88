/** One operation of a history: what a process asked of an object, and the outcome. Values are JSON. */
export interface Operation {
  /** The process that asked. */
  readonly process: string
  /** The operation's name in its model: `read`, `write`. */
  readonly op: string
  /** The object; operations without a key all concern the same one. */
  readonly key?: string | undefined
  /** The argument, for example the value to write. */
  readonly value?: unknown
  /**
   * `ok`: it returned `result`. `failed`: it did not take effect. `unknown`: it may have taken effect, may do so later,
   * or never.
   */
  readonly outcome: 'ok' | 'failed' | 'unknown'
  readonly result?: unknown
  /** When it was invoked: its position among all invocations and returns. */
  readonly invoked: number
  /** When it returned. It cannot have taken effect later. */
  readonly returned?: number | undefined
  /** Steps of invocation and return, if the history belongs to an execution. */
  readonly invokedAt?: number | undefined
  readonly returnedAt?: number | undefined
}

export const isOk = ({ outcome }: Operation): boolean => outcome === 'ok'

/** The time after which the operation cannot take effect any more. */
export const endOf = ({ returned = Number.POSITIVE_INFINITY }: Operation): number => returned

/** The operation before it returned: without a result. */
export const pending = ({ result, returned, returnedAt, ...operation }: Operation): Operation => ({
  ...operation,
  outcome: 'unknown',
})

/** The operation as if it were unknown whether it took effect. */
export const perhaps = (operation: Operation): Operation => ({ ...operation, outcome: 'unknown' })

/** Operations grouped by `nameOf`, in the order in which the names first appear. */
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
