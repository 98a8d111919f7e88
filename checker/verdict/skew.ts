import type { Bounds } from '../cells/bounds.ts'
import type { Cells } from '../cells/cells.ts'
import type { TaskOutcome } from '../cells/task.ts'
import type { Violation } from '../cells/violation.ts'
import { BudgetSpent } from '../system/budget.ts'
import { Unfaithful } from '../system/errors.ts'
import { labelsOf } from '../system/labels.ts'
import { startAfter, startAsOffered } from '../system/start.ts'
import type { Choice } from '../system/system.ts'
import { asLateAsPossible } from './hasten.ts'
import { narrow } from './least-bound.ts'
import { isAlike, patienceFor } from './shrink.ts'
import { slowMs } from './slow-network.ts'

/**
 * The least bound on how far clocks are apart, in milliseconds, with which such a violation was met again; `null` if it
 * was met with none, or the budget is spent.
 */
export const leastSkewMs = async (
  cells: Cells,
  schedule: readonly Choice[],
  violation: Violation,
): Promise<number | null> => {
  let least: number | null = null
  try {
    const patience = patienceFor(violation)
    const { skewMs, delayMs } = await cells.run({ start: startAfter(labelsOf(schedule)), patience })
    if (skewMs <= slowMs) return skewMs
    const isMetWithin = within(cells, { schedule, violation, delayMsMax: Math.max(slowMs, delayMs) })
    if (await isMetWithin(0)) return 0
    if (!(await isMetWithin(skewMs))) return null
    least = skewMs
    await narrow(skewMs, 0, async bound => {
      if (!(await isMetWithin(bound))) return undefined
      least = bound
      return bound
    })
  } catch (error) {
    if (!(error instanceof BudgetSpent || error instanceof Unfaithful)) throw error
  }
  return least
}

/** Whether the violation also occurs where the network is as fast, and clocks as close, as usual ones. */
export const isMetAsUsual = async (
  cells: Cells,
  { schedule, delayMs, skewMs }: Pick<TaskOutcome, 'schedule' | 'delayMs' | 'skewMs'>,
  violation: Violation,
): Promise<boolean> => {
  if (Math.max(delayMs, skewMs) <= slowMs) return true
  try {
    const isMet = (schedule: readonly Choice[]) => within(cells, { schedule, violation, delayMsMax: slowMs })(slowMs)
    return (await isMet(schedule)) || (delayMs > slowMs && (await isMet(await asLateAsPossible(cells, schedule))))
  } catch (error) {
    if (error instanceof BudgetSpent || error instanceof Unfaithful) return false
    throw error
  }
}

interface Known {
  readonly schedule: readonly Choice[]
  readonly violation: Violation
  readonly delayMsMax: number
}

/** Whether such a violation is met by this schedule, or one like it, with clocks at most so far apart. */
const within =
  (cells: Cells, { schedule, violation, delayMsMax }: Known) =>
  async (skewMsMax: number): Promise<boolean> => {
    const task = { start: startAsOffered(labelsOf(schedule)), patience: patienceFor(violation) }
    const isMet = ({ violation: met, delayMs }: TaskOutcome) =>
      !!met && isAlike(met, violation) && delayMs <= delayMsMax
    // Timers that fire when they are due may send messages, which must then be no later than allowed.
    const bounds: Bounds[] = [{ skewMsMax }, { skewMsMax, delayMsMax }]
    const next = () => bounds.shift()
    for await (const [, outcome] of cells.inOrder(next, (each, cells) => cells.run({ ...task, ...each })))
      if (isMet(outcome)) return true
    return false
  }
