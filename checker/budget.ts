/** What a search may spend. Whatever ends first ends it. */
export interface Limits {
  /** Executions, counted from `reset` to `reset`. */
  readonly executions?: number | undefined
  /** Wall-clock time in milliseconds. */
  readonly milliseconds?: number | undefined
  /** Ends the work where it stands. */
  readonly signal?: AbortSignal | undefined
}

/** Thrown inside a search when its budget is spent; what was found until then stays valid. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
  readonly what: 'executions' | 'time' | 'aborted'

  constructor(what: 'executions' | 'time' | 'aborted') {
    super(`budget spent: ${what}`)
    this.what = what
  }
}

/** Limits that run from the moment of its making. */
export class Budget {
  #executions: number
  readonly #deadline: number
  readonly #signal: AbortSignal | undefined

  constructor({ executions = Number.POSITIVE_INFINITY, milliseconds = Number.POSITIVE_INFINITY, signal }: Limits) {
    this.#executions = executions
    this.#deadline = performance.now() + milliseconds
    this.#signal = signal
  }

  /** Takes one execution out of the budget. */
  takeExecution(): void {
    this.check()
    if (this.#executions <= 0) throw new BudgetSpent('executions')
    this.#executions -= 1
  }

  /** Throws `BudgetSpent` where time is over or the work was aborted. */
  check(): void {
    if (this.#signal?.aborted) throw new BudgetSpent('aborted')
    if (performance.now() > this.#deadline) throw new BudgetSpent('time')
  }
}
