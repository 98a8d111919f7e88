import type { Cell } from '../../checker/cells/cell.ts'
import type { TaskOutcome } from '../../checker/cells/task.ts'
import { type Budget, BudgetSpent } from '../../checker/system/budget.ts'
import { Unfaithful } from '../../checker/system/errors.ts'
import { labelsTo } from '../../checker/system/start.ts'
import { GivenUp, type QueueEngine } from './engine.ts'
import type { AskedTask, Job, JobAnswer } from './job.ts'

/**
 * Intended duration of a job in milliseconds. Much shorter jobs cost more to transfer, and of much longer ones more is
 * lost with a worker.
 */
const jobMs = 1_000
const tasksMax = 16

interface Waiting {
  readonly asked: AskedTask
  readonly resolve: (answer: JobAnswer) => void
  readonly reject: (error: unknown) => void
}

export interface BatchesOptions extends Omit<Job, 'tasks' | 'campaign'> {
  readonly engine: QueueEngine
  /** Converts a failure to an error. */
  readonly errorOf: (failure: unknown) => Error
  /** Called with each outcome, including those that nobody waits for any more. */
  readonly onOutcome?: ((outcome: TaskOutcome) => void) | undefined
  /** Called with each thing that a worker could not hold, and for each task that was given up. */
  readonly onNote: (note: string) => void
}

/** Gathers tasks that a search requests at the same time into jobs. */
export class Batches {
  readonly #options: BatchesOptions
  #waiting: Waiting[] = []
  /** Recent duration of a task. */
  #taskMs = jobMs

  constructor(options: BatchesOptions) {
    this.#options = options
  }

  /**
   * Cells whose tasks the engine performs.
   *
   * @param variant is added to that of each task
   */
  cells(count: number, variant: number): Cell[] {
    return Array.from({ length: count }, () => ({
      perform: (task, own, budget) => this.#perform({ task, variant: variant + own }, budget),
      end: async () => undefined,
    }))
  }

  async #perform(asked: AskedTask, budget: Budget): Promise<TaskOutcome> {
    budget.check()
    const answer = await whileInBudget(this.#ask(asked), budget)
    if ('failure' in answer) throw this.#options.errorOf(answer.failure)
    for (const note of answer.notes) this.#options.onNote(note)
    return answer.outcome
  }

  #ask(asked: AskedTask): Promise<JobAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#send())
      this.#waiting.push({ asked, resolve, reject })
    })
  }

  #send(): void {
    const size = Math.max(1, Math.min(tasksMax, Math.floor(jobMs / this.#taskMs)))
    while (this.#waiting.length > 0) void this.#sendOne(this.#waiting.splice(0, size))
  }

  async #sendOne(batch: readonly Waiting[]): Promise<void> {
    const { engine, config, property, seed, clocksStart, onOutcome } = this.#options
    const begun = performance.now()
    try {
      const tasks = batch.map(({ asked }) => asked)
      const answers = await engine.perform({ config, property, seed, clocksStart, tasks })
      this.#taskMs = (this.#taskMs + (performance.now() - begun) / batch.length) / 2
      for (const [index, answer] of answers.entries()) {
        if ('outcome' in answer) onOutcome?.(answer.outcome)
        batch[index]!.resolve(answer)
      }
    } catch (error) {
      if (error instanceof GivenUp) this.#giveUp(batch, error)
      else for (const { reject } of batch) reject(error)
    }
  }

  /** Only one of the tasks may end whoever does it, or all of them take longer than workers live: each is tried alone. */
  #giveUp(batch: readonly Waiting[], error: GivenUp): void {
    if (batch.length > 1) for (const each of batch) void this.#sendOne([each])
    else {
      this.#options.onNote(error.message)
      for (const { asked, reject } of batch) reject(unfaithful(asked, error))
    }
  }
}

/** The longest time of a timer of Node.js. */
const timerMsMax = 2 ** 31 - 1

/**
 * Stops waiting when the budget is spent: perhaps there is no worker. The task is done all the same, and its answer is
 * ignored.
 */
const whileInBudget = (answer: Promise<JobAnswer>, budget: Budget): Promise<JobAnswer> => {
  let forget = () => {}
  const spent = new Promise<never>((_, reject) => {
    const stop = (what: BudgetSpent['what']) => reject(new BudgetSpent(what))
    const { milliseconds } = budget
    const timer = milliseconds > timerMsMax ? undefined : setTimeout(stop, milliseconds, 'time')
    const forgetAbort = budget.onAbort(() => stop('aborted'))
    forget = () => {
      clearTimeout(timer)
      forgetAbort()
    }
  })
  return Promise.race([answer, spent]).finally(forget)
}

/** An execution that no worker could do says nothing about the system. */
const unfaithful = ({ task }: AskedTask, { message }: GivenUp): Unfaithful =>
  new Unfaithful(0, labelsTo(task.start).at(-1) ?? 'the start', message)
