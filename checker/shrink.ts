import { BudgetSpent } from './budget.ts'
import type { Executor, Violation } from './executor.ts'
import { attempt } from './schedule.ts'
import { type Choice, faultKinds } from './system.ts'

export interface Shrunk {
  /** Labels of a schedule that violates the same property. */
  readonly schedule: readonly string[]
  /** False where the budget was spent before the schedule was 1-minimal. */
  readonly isMinimal: boolean
}

const isFault = (choice: Choice) => faultKinds.includes(choice.kind) || choice.kind === 'overlap'

/**
 * Delta debugging (Zeller and Hildebrandt, ddmin) over a schedule that violates a safety property, or ends in a crash
 * or a divergence: leaves out choices, executes the rest as far as it is still enabled, and keeps what violates the
 * same. Faults and overlaps are tried first, one by one, so that none stays that is not needed.
 */
export const shrink = async <State>(
  executor: Executor<State>,
  schedule: readonly Choice[],
  violation: Violation,
): Promise<Shrunk> => {
  let best = [...schedule]
  const violates = async (candidate: readonly Choice[]): Promise<boolean> => {
    await executor.reset()
    await attempt(executor, labelsOf(candidate))
    const found = executor.violation
    if (found?.kind !== violation.kind || found.property !== violation.property) return false
    // What was really executed: shorter still where some of it was not enabled.
    if (executor.schedule.length <= best.length) best = [...executor.schedule]
    return true
  }
  try {
    for (const fault of schedule.filter(isFault)) {
      if (best.includes(fault)) await violates(best.filter(choice => choice !== fault))
    }
    await minimise(() => best, violates)
    return { schedule: labelsOf(best), isMinimal: true }
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    return { schedule: labelsOf(best), isMinimal: false }
  }
}

const labelsOf = (choices: readonly Choice[]) => choices.map(choice => choice.label)

/** Leaves out pieces of halving size, until no single choice can be left out. */
const minimise = async (
  current: () => readonly Choice[],
  violates: (candidate: readonly Choice[]) => Promise<boolean>,
): Promise<void> => {
  for (let size = Math.ceil(current().length / 2); size >= 1; ) {
    let isShorter = false
    // From the end: what comes late depends on what came before it.
    for (let end = current().length; end > 0; end -= size) {
      const all = current()
      const stop = Math.min(end, all.length)
      const rest = [...all.slice(0, Math.max(0, stop - size)), ...all.slice(stop)]
      if (rest.length < all.length && (await violates(rest))) isShorter = true
    }
    if (size === 1 && !isShorter) return
    size = size === 1 ? 1 : Math.ceil(size / 2)
  }
}
