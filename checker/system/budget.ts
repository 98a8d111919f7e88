/** Limits on a search. The first one reached ends it. */
export interface SearchLimits {
  /** Executions, counted from `reset` to `reset`. */
  readonly executions?: number | undefined
  /** Steps of executions that count. Executions begun ahead of need and then discarded are not included. */
  readonly steps?: number | undefined
  /** Wall-clock time in milliseconds. */
  readonly milliseconds?: number | undefined
  /** Ends the work early. */
  readonly signal?: AbortSignal | undefined
}

/** Thrown inside a search when its budget is spent. What was found by then stays valid. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
  readonly what: 'executions' | 'steps' | 'time' | 'aborted'

  constructor(what: BudgetSpent['what']) {
    super(`budget spent: ${what}`)
    this.what = what
  }
}

/** Limits that count from construction. The limit on steps is kept by `Cells`. */
export class Budget {
  #executions: number
  readonly #deadline: number
  readonly #signals: readonly AbortSignal[]
  readonly #parent: Budget | undefined

  /** @param parent the budget of which this one is a part: each execution is taken from both */
  constructor({ executions = Number.POSITIVE_INFINITY, milliseconds, signal }: SearchLimits, parent?: Budget) {
    const deadline = performance.now() + (milliseconds ?? Number.POSITIVE_INFINITY)
    this.#executions = executions
    this.#deadline = Math.min(deadline, parent ? parent.#deadline : Number.POSITIVE_INFINITY)
    this.#signals = [...(signal ? [signal] : []), ...(parent ? parent.#signals : [])]
    this.#parent = parent
  }

  /** Time left in milliseconds; infinite without a limit. */
  get milliseconds(): number {
    return this.#deadline - performance.now()
  }

  /** When time is over, by `performance.now()`; infinite without a limit. */
  get deadline(): number {
    return this.#deadline
  }

  /** Takes one execution from the budget. */
  takeExecution(): void {
    this.check()
    this.#parent?.takeExecution()
    if (this.#executions <= 0) throw new BudgetSpent('executions')
    this.#executions -= 1
  }

  /** @throws BudgetSpent if time is over or the work was aborted */
  check(): void {
    if (this.#signals.some(({ aborted }) => aborted)) throw new BudgetSpent('aborted')
    if (performance.now() > this.#deadline) throw new BudgetSpent('time')
  }

  /** Calls `listener` when the work is aborted, unless the returned function is called first. */
  onAbort(listener: () => void): () => void {
    for (const signal of this.#signals) signal.addEventListener('abort', listener)
    return () => {
      for (const signal of this.#signals) signal.removeEventListener('abort', listener)
    }
  }
}
