import { Diverged } from './errors.ts'
import type { Executor } from './executor.ts'
import { withoutOrdinals } from './labels.ts'
import type { Choice } from './system.ts'

/** Executes exactly these labels. Throws `Diverged` at the first that is not enabled. */
export const follow = async <State>(executor: Executor<State>, labels: readonly string[]): Promise<void> => {
  for (const label of labels) {
    const enabled = executor.enabled()
    const choice = enabled.find(each => each.label === label)
    if (!choice) {
      const offered = enabled.map(each => each.label)
      throw new Diverged(executor.schedule.length + 1, label, offered)
    }
    await executor.execute(choice)
  }
}

/** Executes those of these labels that are enabled when their turn comes, until the first violation. */
export const attempt = async <State>(executor: Executor<State>, labels: readonly string[]): Promise<void> => {
  for (const label of labels) {
    if (executor.violation) return
    const choice = findSimilar(executor.enabled(), label)
    if (choice) await executor.execute(choice)
  }
}

// Where an earlier message was not sent, the ordinals of later ones are smaller: then a label means the same without them.
const findSimilar = (enabled: readonly Choice[], label: string): Choice | undefined => {
  const exact = enabled.find(choice => choice.label === label)
  if (exact) return exact
  const similar = enabled.filter(choice => withoutOrdinals(choice.label) === withoutOrdinals(label))
  return similar.length === 1 ? similar[0] : undefined
}
