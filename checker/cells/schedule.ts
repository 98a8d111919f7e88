import { Diverged, Unfaithful } from '../errors.ts'
import { type Described, labelsOf, readLabel } from '../labels.ts'
import { distanceTo, isAlikeInOutline, isLike } from '../likeness.ts'
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
    const choice = findSimilar(executor.offered(), readLabel(label))
    if (choice) await executor.execute(choice)
    else skipped.push(label)
  }
  return skipped
}

/** The same, where a timer may have to wait until messages are delivered: then they are, in the order in which they are offered. */
export const attemptPromptly = async <State>(executor: Executor<State>, labels: readonly string[]): Promise<void> => {
  for (const wanted of labels.map(readLabel)) {
    while (!executor.violation) {
      const offered = executor.offered()
      const similar = findSimilar(offered, wanted)
      const choice = similar ?? (wanted.kind === 'timer' ? offered.find(({ kind }) => kind === 'deliver') : undefined)
      if (choice) await executor.execute(choice)
      if (similar || !choice) break
    }
  }
}

/**
 * The enabled choice that is most like a recorded one. Where something earlier was left out, later messages, terms and
 * connections count lower: the one that says nearly the same is meant, and of these the one whose place is nearest. Where
 * not even the words are the same, as with identifiers that are drawn, a message of this outline on the same way.
 */
const findSimilar = (enabled: readonly Choice[], wanted: Described): Choice | undefined => {
  const same = enabled.filter(choice => isLike(choice, wanted))
  const similar = same.length > 0 ? same : enabled.filter(choice => isAlikeInOutline(choice, wanted))
  const distances = similar.map(choice => ({ choice, distance: distanceTo(choice, wanted) }))
  return distances.sort((one, other) => one.distance[0] - other.distance[0] || one.distance[1] - other.distance[1])[0]
    ?.choice
}
