/** What a search may spend. Whatever ends first ends it. */
export interface Limits {
  /** Executions, counted from `reset` to `reset`. */
  readonly executions?: number | undefined
  /** Steps of what counts: what was begun ahead and is not needed is no part of it. */
  readonly steps?: number | undefined
  /** Wall-clock time in milliseconds. */
  readonly milliseconds?: number | undefined
  /** Ends the work where it stands. */
  readonly signal?: AbortSignal | undefined
}

/** Thrown inside a search when its budget is spent; what was found until then stays valid. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
  readonly what: 'executions' | 'steps' | 'time' | 'aborted'

  constructor(what: BudgetSpent['what']) {
    super(`budget spent: ${what}`)
    this.what = what
  }
}

/** Limits that run from the moment of its making, but for those of steps, which `Cells` keeps. */
export class Budget {
  #executions: number
  readonly #deadline: number
  readonly #signals: readonly AbortSignal[]
  readonly #parent: Budget | undefined

  /** @param parent a budget of which this is a part: what is taken here is taken there too */
  constructor({ executions = Number.POSITIVE_INFINITY, milliseconds, signal }: Limits, parent?: Budget) {
    const deadline = performance.now() + (milliseconds ?? Number.POSITIVE_INFINITY)
    this.#executions = executions
    this.#deadline = Math.min(deadline, parent ? parent.#deadline : Number.POSITIVE_INFINITY)
    this.#signals = [...(signal ? [signal] : []), ...(parent ? parent.#signals : [])]
    this.#parent = parent
  }

  /** Time that is left, in milliseconds; infinite where nothing limits it. */
  get milliseconds(): number {
    return this.#deadline - performance.now()
  }

  /** Takes one execution out of the budget. */
  takeExecution(): void {
    this.check()
    this.#parent?.takeExecution()
    if (this.#executions <= 0) throw new BudgetSpent('executions')
    this.#executions -= 1
  }

  /** Throws `BudgetSpent` where time is over or the work was aborted. */
  check(): void {
    if (this.#signals.some(({ aborted }) => aborted)) throw new BudgetSpent('aborted')
    if (performance.now() > this.#deadline) throw new BudgetSpent('time')
  }

  /** Calls `listener` when the work is aborted, unless the function that it returns is called before. */
  onAbort(listener: () => void): () => void {
    for (const signal of this.#signals) signal.addEventListener('abort', listener)
    return () => {
      for (const signal of this.#signals) signal.removeEventListener('abort', listener)
    }
  }
}
