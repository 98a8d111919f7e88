import type { Cells } from '../cells/cells.ts'
import type { Violation } from '../cells/violation.ts'
import type { SearchLimits } from '../system/budget.ts'
import { Diverged } from '../system/errors.ts'
import { type Described, labelsOf, readLabel } from '../system/labels.ts'
import { isLike } from '../system/likeness.ts'
import { Random } from '../system/random.ts'
import { startAfter, startAsOffered } from '../system/start.ts'
import type { Choice } from '../system/system.ts'
import { type Attempt, type MinimiseLimits, type Minimum, minimise } from './minimise.ts'
import { type RecoveryOptions, recover } from './recovery.ts'

/** The identity of a violation, wherever it occurs in a schedule. A `Verdict` of `violated` has these fields. */
export interface ViolationLike {
  readonly kind: Violation['kind']
  /** Name of the property; none for a crash or divergence. */
  readonly property?: string | null | undefined
}

/**
 * A step that computes for a tenth of the divergence bound usually continues to the full bound. Candidates treat it as
 * a divergence, which saves time.
 */
const candidatesPatience = 0.1

/** Patience with candidates for such a violation. */
export const patienceFor = ({ kind }: ViolationLike): number => (kind === 'divergence' ? candidatesPatience : 1)

/** Shrinks a schedule that ends in a safety violation, a crash or a divergence. What is returned was executed again. */
export const shrinkViolation = async (
  cells: Cells,
  found: readonly Choice[],
  violation: Violation,
  { delayMsMax = Number.POSITIVE_INFINITY, ...limits }: ShrinkLimits,
): Promise<ShrunkViolation> => {
  const shrinkWith = (patience: number) => shrinkPatiently(cells, found, violation, { limits, patience, delayMsMax })
  const patience = patienceFor(violation)
  const soon = patience < 1 ? await shrinkWith(patience) : undefined
  const shrunk = soon ?? (await shrinkWith(1))
  if (shrunk) return shrunk
  const { delayMs } = await cells.run({ start: startAfter(labelsOf(found)) })
  return { schedule: found, message: violation.message, minimal: false, delayMs }
}

interface ShrinkLimits extends SearchLimits {
  /** The longest time that a message may be in flight in the result, in milliseconds. */
  readonly delayMsMax?: number | undefined
}

export interface ShrunkViolation {
  readonly schedule: readonly Choice[]
  readonly message: string
  readonly minimal: boolean
  /** The longest time that a message is in flight in it. */
  readonly delayMs: number
}

/** `undefined` if the result found with this patience turns out not to have the violation. */
const shrinkPatiently = async (
  cells: Cells,
  found: readonly Choice[],
  violation: Violation,
  { limits, patience, delayMsMax }: { limits: SearchLimits; patience: number; delayMsMax: number },
): Promise<ShrunkViolation | undefined> => {
  const { schedule, minimal } = await minimise(cells, found, attemptAt(violation, patience, delayMsMax), limits)
  const { violation: again, delayMs } = await cells.run({ start: startAfter(labelsOf(schedule)), isAnew: true })
  return again && isAlike(again, violation) ? { schedule, message: again.message, minimal, delayMs } : undefined
}

/** Tries whether candidates have such a violation while no message is in flight for longer. */
export const attemptAt =
  (violation: ViolationLike, patience: number, delayMsMax: number): Attempt =>
  async (labels, cells, isShifted) => {
    const outcome = await cells.tryRun({ start: startAsOffered(labels, isShifted), patience })
    if (outcome instanceof Diverged) return undefined
    const isFastEnough = outcome.delayMs <= delayMsMax
    return { ...outcome, isAlike: isFastEnough && !!outcome.violation && isAlike(outcome.violation, violation) }
  }

/**
 * Shrinks a schedule that ends with its critical transition to one from which none of the `recovery` walks recovers
 * either. The result ends with the same step: with few walks, an earlier state could seem just as dead without being
 * so.
 */
export const shrinkDeath = (
  cells: Cells,
  found: readonly Choice[],
  recovery: RecoveryOptions,
  limits: MinimiseLimits,
): Promise<Minimum> => {
  const last = found.at(-1)
  // Each candidate is tried with the same walks.
  const seed = recovery.random.seed()
  const endsAlike = (end: Described | undefined) => (end && last ? isLike(last, end) : end === last)
  const attempt: Attempt = async (labels, cells, isShifted) => {
    const end = labels.at(-1)
    if (!endsAlike(end === undefined ? undefined : readLabel(end))) return undefined
    const options = { ...recovery, isLenient: true, isShifted, random: new Random(seed) }
    const { live, met, begin } = await recover(cells, labels, options)
    return { ...begin, isAlike: !live && !met && !begin.broken && endsAlike(begin.schedule.at(-1)) }
  }
  return minimise(cells, found, attempt, limits)
}

export const isAlike = (violation: Violation, like: ViolationLike): boolean =>
  violation.kind === like.kind && violation.property === (like.property ?? undefined)
