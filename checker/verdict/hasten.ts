import type { Cells } from '../cells/cells.ts'
import type { TaskOutcome } from '../cells/task.ts'
import type { Violation } from '../cells/violation.ts'
import { BudgetSpent, type SearchLimits } from '../system/budget.ts'
import { Unfaithful } from '../system/errors.ts'
import { labelsOf } from '../system/labels.ts'
import { startAfter, startAsOffered } from '../system/start.ts'
import type { Choice } from '../system/system.ts'
import { narrow } from './least-bound.ts'
import { minimiseSteps } from './minimise.ts'
import { executedAs, sendLater, sentLater } from './send-later.ts'
import { attemptAt, isAlike, patienceFor, type ShrunkViolation } from './shrink.ts'
import { slowMs } from './slow-network.ts'

/** A violation, and how long messages must be in flight for it. */
export type Hastened = Pick<ShrunkViolation, 'schedule' | 'message' | 'delayMs'>

/**
 * A schedule with the same violation in a usual network: the given one with messages delivered earlier, or sent later as well;
 * `undefined` if neither violates.
 */
export const inUsualNetwork = async (
  cells: Cells,
  schedule: readonly Choice[],
  violation: Violation,
): Promise<Hastened | undefined> => {
  try {
    const sooner = await tryWithin(slowMs, cells, schedule, violation)
    return sooner ?? (await tryWithin(slowMs, cells, await asLateAsPossible(cells, schedule), violation))
  } catch (error) {
    if (error instanceof BudgetSpent || error instanceof Unfaithful) return undefined
    throw error
  }
}

/**
 * A schedule with the same violation in the fastest network for which one is found. If the given schedule does not need
 * a slow network, it is kept. What is returned was executed again.
 */
export const hasten = async (
  cells: Cells,
  given: Hastened,
  violation: Violation,
  limits: SearchLimits,
): Promise<Hastened> => {
  const { delayMs } = given
  let best = given
  if (delayMs <= slowMs) return best
  try {
    const within = cells.within(limits)
    best = (await again(within, await sendLater(within, given.schedule, violation), violation)) ?? given
    if (best.delayMs > slowMs)
      await narrow(best.delayMs, -1, async bound => {
        const faster = await tryWithin(bound, within, best.schedule, violation)
        best = faster ?? best
        return faster?.delayMs
      })
    if (best.delayMs < delayMs) best = { ...best, schedule: await shortest(within, best, violation) }
  } catch (error) {
    if (!(error instanceof BudgetSpent || error instanceof Unfaithful)) throw error
  }
  return best.delayMs === delayMs ? best : ((await again(cells, best.schedule, violation)) ?? given)
}

/** The steps of a schedule with messages sent as late as what depends on them allows. */
export const asLateAsPossible = async (cells: Cells, schedule: readonly Choice[]): Promise<readonly Choice[]> => {
  const { schedule: executed, arrival } = await cells.run({ start: startAfter(labelsOf(schedule)) })
  return sentLater(executedAs(executed, arrival))
}

/** The same schedule, with messages delivered before timers that would leave them in flight for longer than this. */
const tryWithin = async (
  delayMsMax: number,
  cells: Cells,
  schedule: readonly Choice[],
  violation: Violation,
): Promise<Hastened | undefined> =>
  hastenedBy(
    await cells.run({ start: startAsOffered(labelsOf(schedule)), delayMsMax, patience: patienceFor(violation) }),
    violation,
  )

const again = async (cells: Cells, schedule: readonly Choice[], like: Violation): Promise<Hastened | undefined> =>
  hastenedBy(await cells.run({ start: startAfter(labelsOf(schedule)) }), like)

const hastenedBy = ({ schedule, violation, delayMs }: TaskOutcome, like: Violation): Hastened | undefined =>
  violation && isAlike(violation, like) ? { schedule, message: violation.message, delayMs } : undefined

/** Drops what a faster network does not need. The given schedule was minimal, so only single steps are tried. */
const shortest = async (
  cells: Cells,
  { schedule, delayMs }: Hastened,
  violation: Violation,
): Promise<readonly Choice[]> =>
  (await minimiseSteps(cells, schedule, attemptAt(violation, patienceFor(violation), delayMs))).schedule
