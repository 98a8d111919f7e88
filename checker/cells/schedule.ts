import { Diverged, Unfaithful } from '../errors.ts'
import { isTimer, labelsOf, numbers, outline, withoutNumbers } from '../labels.ts'
import type { Choice } from '../system.ts'
import type { Executor } from './executor.ts'

/** Executes exactly these labels. Throws `Diverged` at the first that is not enabled. */
export const follow = async <State>(executor: Executor<State>, labels: readonly string[]): Promise<void> => {
  for (const label of labels) {
    const offered = executor.offered()
    const choice = offered.find(each => each.label === label)
    if (!choice) throw divergence(executor, label, offered)
    await executor.execute(choice)
  }
}

const divergence = <State>({ system, schedule }: Executor<State>, label: string, offered: readonly Choice[]) => {
  const step = schedule.length + 1
  const disturbance = system.disturbance?.()
  return disturbance === undefined
    ? new Diverged(step, label, labelsOf(offered))
    : new Unfaithful(step, label, disturbance)
}

/**
 * Executes those of these labels that are enabled when their turn comes, until the first violation.
 *
 * @returns those that were left out, in their order
 */
export const attempt = async <State>(executor: Executor<State>, labels: readonly string[]): Promise<string[]> => {
  const skipped: string[] = []
  for (const label of labels) {
    if (executor.violation) break
    const choice = findSimilar(executor.offered(), label)
    if (choice) await executor.execute(choice)
    else skipped.push(label)
  }
  return skipped
}

/** The same, where a timer may have to wait until messages are delivered: then they are, in the order in which they are offered. */
export const attemptPromptly = async <State>(executor: Executor<State>, labels: readonly string[]): Promise<void> => {
  for (const label of labels) {
    while (!executor.violation) {
      const offered = executor.offered()
      const wanted = findSimilar(offered, label)
      const choice = wanted ?? (isTimer(label) ? offered.find(({ kind }) => kind === 'deliver') : undefined)
      if (choice) await executor.execute(choice)
      if (wanted || !choice) break
    }
  }
}

// Where something earlier was left out, later messages, terms and connections count lower. The nearest numbers are meant;
// where not even the rest is the same, as with identifiers that are drawn, a message of this kind on this way.
const findSimilar = (enabled: readonly Choice[], label: string): Choice | undefined => {
  const wanted = withoutNumbers(label)
  const same = enabled.filter(choice => withoutNumbers(choice.label) === wanted)
  const similar = same.length > 0 ? same : alikeInOutline(enabled, label)
  const distances = similar.map(choice => distance(numbers(choice.label), numbers(label)))
  return similar[distances.indexOf(Math.min(...distances))]
}

const alikeInOutline = (enabled: readonly Choice[], label: string): readonly Choice[] => {
  const wanted = outline(label)
  return wanted === undefined ? [] : enabled.filter(choice => outline(choice.label) === wanted)
}

const distance = (some: readonly number[], others: readonly number[]): number =>
  some.reduce((sum, number, i) => sum + Math.abs(number - (others[i] ?? number)), 0)
