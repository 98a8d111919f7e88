import PQueue from 'p-queue'
import { Budget, BudgetSpent, type SearchLimits } from '../system/budget.ts'
import { Diverged } from '../system/errors.ts'
import type { Cell } from './cell.ts'
import { type Fingerprints, MetStates } from './met-states.ts'
import type { NodeOutcome, NodeTask, Purpose, Task, TaskOutcome } from './task.ts'

/** What was done so far. */
export interface CellCounts {
  readonly executions: number
  /** Executions by what they were for. */
  readonly spent: Readonly<Record<Purpose, number>>
  readonly steps: number
  /** Distinct fingerprints met; 0 if the system has none. */
  readonly states: number
}

interface Scope {
  readonly crew: Crew
  readonly tally: Tally
  readonly states: MetStates
  readonly budget: Budget
  /** Value of `tally.steps` at which this scope's limit is reached. */
  readonly stepsMax: number
  readonly variant: number
  readonly purpose: Purpose
  /** Whether its tasks wait while other work has the cells for itself. */
  readonly isPatient: boolean
}

/**
 * The cells of a search, which perform its tasks. Results are taken in the order of the tasks, never in the order in
 * which they become ready, so a search has the same result with any number of cells.
 */
export class Cells {
  readonly #scope: Scope

  private constructor(scope: Scope) {
    this.#scope = scope
  }

  /** @param onCount is called after each piece of work */
  static of(cells: readonly Cell[], onCount?: (counts: CellCounts) => void): Cells {
    const states = new MetStates()
    const tally: Tally = new Tally(({ fingerprints }) => {
      states.add(fingerprints)
      onCount?.({ ...tally.counts, states: states.size })
    })
    const stepsMax = Number.POSITIVE_INFINITY
    const [crew, budget] = [new Crew(cells), new Budget({})]
    return new Cells({ crew, tally, states, budget, stepsMax, variant: 0, purpose: 'search', isPatient: true })
  }

  get counts(): CellCounts {
    const { tally, states } = this.#scope
    return { ...tally.counts, states: states.size }
  }

  /** These cells within further limits, which count from now. */
  within(limits: SearchLimits): Cells {
    const { budget, tally, stepsMax } = this.#scope
    const steps = tally.steps + (limits.steps ?? Number.POSITIVE_INFINITY)
    return this.#with({ budget: new Budget(limits, budget), stepsMax: Math.min(stepsMax, steps) })
  }

  /** These cells, with nodes that draw the random numbers of this variant. */
  ofVariant(variant: number): Cells {
    return this.#with({ variant })
  }

  /** These cells, for executions of another purpose. */
  for(purpose: Purpose): Cells {
    return this.#with({ purpose })
  }

  /** Waits for tasks under way, then does some work that has the cells for itself. */
  async alone<Result>(work: (cells: Cells) => Promise<Result>): Promise<Result> {
    const { crew } = this.#scope
    crew.pause()
    try {
      return await work(this.#with({ isPatient: false }))
    } finally {
      crew.goOn()
    }
  }

  /** From now on, no execution reuses anything of earlier ones. Returns false if that was so before. */
  stopRewinding(): Promise<boolean> {
    return this.#scope.crew.betweenTasks(async cell => (await cell.stopRewinding?.()) ?? false)
  }

  /** From now on, turns are long. Returns false if they were before, or the systems have none. */
  lengthenTurns(): Promise<boolean> {
    return this.#scope.crew.betweenTasks(async cell => (await cell.lengthenTurns?.()) ?? false)
  }

  /** Ends all cells but one. Returns false if there was only one. */
  keepOne(): Promise<boolean> {
    return this.#scope.crew.keepOne()
  }

  /** Resolves once no task is under way. */
  whenIdle(): Promise<void> {
    return this.#scope.crew.whenIdle()
  }

  /** Performs a task. Throws as `Cell.perform` does. */
  async run(task: Task): Promise<TaskOutcome> {
    const { crew, tally, budget, variant, purpose, isPatient } = this.#scope
    this.#checkSteps()
    budget.takeExecution()
    try {
      const outcome = await crew.perform(cell => cell.perform(task, variant, budget), isPatient)
      tally.count({ purpose, steps: outcome.schedule.length, fingerprints: outcome.fingerprints })
      return outcome
    } catch (error) {
      if (error instanceof Diverged) tally.count({ purpose, steps: Math.max(0, error.step - 1), fingerprints: [] })
      throw error
    }
  }

  /** Performs a task. If it diverges or does not count, returns that error instead of an outcome. */
  async tryRun(task: Task): Promise<TaskOutcome | Diverged> {
    try {
      return await this.run(task)
    } catch (error) {
      if (error instanceof Diverged) return error
      throw error
    }
  }

  /**
   * Tries a task of a node alone. The tally counts one execution, and a step for each input.
   *
   * @param isCounted false: only its time is counted, not its execution and steps
   */
  async tryRunAlone(task: NodeTask, isCounted = true): Promise<NodeOutcome | Diverged> {
    const { crew, tally, budget, variant, purpose, isPatient } = this.#scope
    this.#checkSteps()
    if (isCounted) budget.takeExecution()
    try {
      return await crew.perform(cell => cell.performAlone!(task, variant, budget), isPatient)
    } catch (error) {
      if (error instanceof Diverged) return error
      throw error
    } finally {
      if (isCounted) tally.count({ purpose, steps: task.start.inputs.length, fingerprints: [] })
    }
  }

  /**
   * Does some work for each item and yields the results in the order of the items. Work for later items begins before
   * it is known whether it is needed. When no more results are asked for, that work is aborted and not counted.
   *
   * @param next the next item; `undefined` if there is none until more results were yielded
   *
   * @param ahead how many items are begun before the first of them is over. With as many as there are cells, a cell would
   *   wait while another one works on the first for long.
   */
  async *inOrder<Item, Result>(
    next: () => Item | undefined,
    work: (item: Item, cells: Cells) => Promise<Result>,
    ahead = this.#scope.crew.size === 1 ? 1 : 2 * this.#scope.crew.size,
  ): AsyncGenerator<readonly [Item, Result], void, void> {
    const begun: (readonly [Item, Part<Result>])[] = []
    const begin = () => {
      const item = begun.length < ahead ? next() : undefined
      if (item !== undefined) begun.push([item, new Part(this.#scope, scope => work(item, new Cells(scope)))])
      return item !== undefined
    }
    try {
      for (;;) {
        this.#checkSteps()
        while (begin());
        const [item, part] = begun.shift() ?? []
        if (!part) return
        yield [item as Item, await part.take()]
      }
    } finally {
      for (const [, part] of begun) part.cancel()
    }
  }

  #checkSteps(): void {
    const { tally, stepsMax } = this.#scope
    if (tally.steps >= stepsMax) throw new BudgetSpent('steps')
  }

  #with(change: Partial<Scope>): Cells {
    return new Cells({ ...this.#scope, ...change })
  }
}

/** Work that is counted only when its result is taken. */
class Part<Result> {
  readonly #whole: Scope
  readonly #counted: Counted[] = []
  readonly #abort = new AbortController()
  readonly #result: Promise<Result>

  constructor(whole: Scope, work: (scope: Scope) => Promise<Result>) {
    this.#whole = whole
    const budget = new Budget({ signal: this.#abort.signal }, whole.budget)
    const tally = new Tally(counted => void this.#counted.push(counted))
    this.#result = work({ ...whole, tally, budget, stepsMax: Number.POSITIVE_INFINITY })
    // The error is reported to whoever takes the result. Until then it must not count as an unhandled rejection.
    this.#result.catch(() => undefined)
  }

  async take(): Promise<Result> {
    try {
      return await this.#result
    } finally {
      for (const counted of this.#counted) this.#whole.tally.count(counted)
    }
  }

  cancel(): void {
    this.#abort.abort()
  }
}

/** What one execution adds to the tally. */
interface Counted {
  readonly purpose: Purpose
  readonly steps: number
  readonly fingerprints: Fingerprints
}

class Tally {
  steps = 0
  readonly #spent = { search: 0, examination: 0, audit: 0 }
  readonly #onCount: (counted: Counted) => void

  constructor(onCount: (counted: Counted) => void) {
    this.#onCount = onCount
  }

  get counts(): Omit<CellCounts, 'states'> {
    const { search, examination, audit } = this.#spent
    return { executions: search + examination + audit, spent: { ...this.#spent }, steps: this.steps }
  }

  count(counted: Counted): void {
    this.#spent[counted.purpose] += 1
    this.steps += counted.steps
    this.#onCount(counted)
  }
}

/** Gives each task to a free cell. */
class Crew {
  size: number
  readonly #free: Cell[]
  readonly #queue: PQueue
  /** Queue of patient tasks. Others are started before them. */
  readonly #patient: PQueue

  constructor(cells: readonly Cell[]) {
    this.size = cells.length
    this.#free = [...cells]
    this.#queue = new PQueue({ concurrency: this.size })
    this.#patient = new PQueue({ concurrency: this.size })
  }

  perform<Result>(work: (cell: Cell) => Promise<Result>, isPatient: boolean): Promise<Result> {
    return isPatient ? this.#patient.add(() => this.#start(work)) : this.#start(work)
  }

  /** Calls `work` with each cell while the cell is idle. Returns whether `work` changed any cell. */
  async betweenTasks(work: (cell: Cell) => Promise<boolean>): Promise<boolean> {
    this.pause()
    try {
      await this.#queue.onIdle()
      let hasChanged = false
      for (const cell of this.#free) hasChanged = (await work(cell)) || hasChanged
      return hasChanged
    } finally {
      this.goOn()
    }
  }

  /** Ends all cells but one. */
  async keepOne(): Promise<boolean> {
    if (this.size === 1) return false
    this.pause()
    try {
      await this.#queue.onIdle()
      const others = this.#free.splice(1)
      this.size = this.#queue.concurrency = this.#patient.concurrency = 1
      await Promise.all(others.map(cell => cell.end()))
      return true
    } finally {
      this.goOn()
    }
  }

  pause(): void {
    this.#patient.pause()
  }

  goOn(): void {
    this.#patient.start()
  }

  async whenIdle(): Promise<void> {
    await this.#patient.onIdle()
    await this.#queue.onIdle()
  }

  #start<Result>(work: (cell: Cell) => Promise<Result>): Promise<Result> {
    return this.#queue.add(async () => {
      const cell = this.#free.pop()!
      try {
        return await work(cell)
      } finally {
        this.#free.push(cell)
      }
    })
  }
}
