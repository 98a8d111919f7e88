import { Budget, BudgetSpent, type Limits } from './budget.ts'
import { Diverged } from './errors.ts'
import type { Executor } from './executor.ts'
import { repeat } from './schedule.ts'
import type { Choice } from './system.ts'

/**
 * The same steps to the same state, with what has been waiting longer first, where two nodes do things that do not depend
 * on each other. Of all orders of a schedule (its Mazurkiewicz trace) that is the one which a reader expects; and which
 * step is the critical one does not depend any more on the order that the search happened to find.
 *
 * Without fingerprints the schedule stays as it is.
 */
export const oldestFirst = async <State>(
  executor: Executor<State>,
  schedule: readonly string[],
  limits: Limits,
): Promise<readonly string[]> => {
  const ordering = new Ordering(executor, schedule)
  try {
    await executor.within(new Budget(limits), () => ordering.order())
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
  }
  return ordering.best
}

/** What was seen of an execution. */
interface Run {
  readonly choices: readonly Choice[]
  /** The step after which each of them was first offered. */
  readonly offered: readonly number[]
  readonly end: string | undefined
}

class Ordering<State> {
  best: readonly string[]
  readonly #executor: Executor<State>
  readonly #tried = new Set<string>()

  constructor(executor: Executor<State>, schedule: readonly string[]) {
    this.#executor = executor
    this.best = schedule
  }

  async order(): Promise<void> {
    let run = await this.#run(this.best)
    for (let next = this.#swapped(run); next !== undefined; next = this.#swapped(run)) {
      const other = await this.#tryRun(next)
      if (other === undefined || other.end !== run.end) continue
      run = other
      this.best = next
    }
  }

  /** The schedule with two neighbours exchanged of which the later has waited longer; `undefined` where none is left. */
  #swapped({ choices, offered, end }: Run): readonly string[] | undefined {
    if (end === undefined) return undefined
    for (let i = 0; i + 1 < choices.length; i++) {
      const [first, second] = [choices[i]!, choices[i + 1]!]
      if (first.node === second.node || offered[i + 1]! >= offered[i]!) continue
      const labels = choices.map(({ label }) => label)
      labels.splice(i, 2, second.label, first.label)
      const key = labels.join('\n')
      if (this.#tried.has(key)) continue
      this.#tried.add(key)
      return labels
    }
    return undefined
  }

  async #tryRun(labels: readonly string[]): Promise<Run | undefined> {
    try {
      return await this.#run(labels)
    } catch (error) {
      if (error instanceof Diverged) return undefined
      throw error
    }
  }

  async #run(labels: readonly string[]): Promise<Run> {
    const executor = this.#executor
    const since = new Map<string, number>()
    await repeat(executor, labels, enabled => {
      for (const { label } of enabled) if (!since.has(label)) since.set(label, executor.schedule.length)
    })
    return {
      choices: [...executor.schedule],
      offered: labels.map(label => since.get(label)!),
      end: executor.fingerprints.at(-1),
    }
  }
}
