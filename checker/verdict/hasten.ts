import { BudgetSpent, type Limits } from '../budget.ts'
import type { Cells } from '../cells/cells.ts'
import type { TaskOutcome } from '../cells/task.ts'
import type { Violation } from '../cells/violation.ts'
import { Unfaithful } from '../errors.ts'
import { labelsOf } from '../labels.ts'
import { startAfter, startAsOffered } from '../start.ts'
import type { Choice } from '../system.ts'
import { candidatesPatience, isAlike, type ShrunkViolation, shrinkViolation } from './shrink.ts'

/**
 * Networks are often this slow, in milliseconds. A violation that needs a slower one is examined again and reported as
 * such.
 */
export const slowMs = 1000

/** Relative precision of the least bound that violates. A smaller one would cost more executions. */
const accuracy = 0.05

/** A violation, and how long messages must be in flight for it. */
export interface Hastened extends Pick<ShrunkViolation, 'schedule' | 'message'> {
  readonly delayMs: number
}

/**
 * A schedule with the same violation in the fastest network for which one is found. If the given schedule does not need
 * a slow network, it is kept. What is returned was executed again.
 */
export const hasten = async (
  cells: Cells,
  given: ShrunkViolation,
  violation: Violation,
  limits: Limits,
): Promise<Hastened> => {
  const { delayMs } = await cells.run({ start: startAfter(labelsOf(given.schedule)) })
  let best: Hastened = { ...given, delayMs }
  if (delayMs <= slowMs) return best
  try {
    const within = cells.within(limits)
    let tooFast = -1
    for (
      let bound = 0;
      best.delayMs - tooFast > accuracy * best.delayMs;
      bound = Math.floor((tooFast + best.delayMs) / 2)
    ) {
      const faster = await tryWithin(bound, within, best.schedule, violation)
      if (faster) best = faster
      else tooFast = bound
      if (best.delayMs === 0) break
    }
    if (best.delayMs < delayMs) best = await shortest(within, best, violation, limits)
  } catch (error) {
    if (!(error instanceof BudgetSpent || error instanceof Unfaithful)) throw error
  }
  const isCertain = best.delayMs === delayMs || patienceFor(violation) === 1
  return isCertain ? best : ((await again(cells, best.schedule, violation, 1)) ?? { ...given, delayMs })
}

/** The same schedule, with messages delivered before timers that would leave them in flight for longer than this. */
const tryWithin = async (
  delayMsMax: number,
  cells: Cells,
  schedule: readonly Choice[],
  violation: Violation,
): Promise<Hastened | undefined> => {
  const patience = patienceFor(violation)
  const faster = await cells.run({ start: startAsOffered(labelsOf(schedule)), delayMsMax, patience })
  if (!faster.violation || !isAlike(faster.violation, violation)) return undefined
  return again(cells, faster.schedule, violation, patience)
}

const patienceFor = ({ kind }: Violation): number => (kind === 'divergence' ? candidatesPatience : 1)

const again = async (
  cells: Cells,
  schedule: readonly Choice[],
  like: Violation,
  patience: number,
): Promise<Hastened | undefined> => {
  const { violation, delayMs }: TaskOutcome = await cells.run({ start: startAfter(labelsOf(schedule)), patience })
  return violation && isAlike(violation, like) ? { schedule, message: violation.message, delayMs } : undefined
}

const shortest = async (cells: Cells, found: Hastened, violation: Violation, limits: Limits): Promise<Hastened> => {
  const { schedule } = await shrinkViolation(cells, found.schedule, violation, { ...limits, delayMsMax: found.delayMs })
  return (await again(cells, schedule, violation, patienceFor(violation))) ?? found
}
