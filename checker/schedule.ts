import { Diverged } from './errors.ts'
import type { Executor } from './executor.ts'
import { labelsOf, numbers, withoutNumbers } from './labels.ts'
import type { Choice } from './system.ts'

/** Executes exactly these labels. Throws `Diverged` at the first that is not enabled. */
export const follow = async <State>(executor: Executor<State>, labels: readonly string[]): Promise<void> => {
  for (const label of labels) {
    const offered = executor.offered()
    const choice = offered.find(each => each.label === label)
    if (!choice) throw new Diverged(executor.schedule.length + 1, label, labelsOf(offered))
    await executor.execute(choice)
  }
}

/** Executes those of these labels that are enabled when their turn comes, until the first violation. */
export const attempt = async <State>(executor: Executor<State>, labels: readonly string[]): Promise<void> => {
  for (const label of labels) {
    if (executor.violation) return
    const choice = findSimilar(executor.offered(), label)
    if (choice) await executor.execute(choice)
  }
}

// Where something earlier was left out, later messages, terms and connections count lower. The nearest numbers are meant.
const findSimilar = (enabled: readonly Choice[], label: string): Choice | undefined => {
  const similar = enabled.filter(choice => withoutNumbers(choice.label) === withoutNumbers(label))
  const distances = similar.map(choice => distance(numbers(choice.label), numbers(label)))
  return similar[distances.indexOf(Math.min(...distances))]
}

const distance = (some: readonly number[], others: readonly number[]): number =>
  some.reduce((sum, number, i) => sum + Math.abs(number - (others[i] ?? number)), 0)
