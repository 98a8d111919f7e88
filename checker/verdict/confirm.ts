import type { Cells } from '../cells/cells.ts'
import type { Replay } from '../cells/replay.ts'
import { headline, type Violation } from '../cells/violation.ts'
import { Diverged } from '../system/errors.ts'
import type { Random } from '../system/random.ts'
import { startAfter } from '../system/start.ts'
import { type Recovery, recover } from './recovery.ts'

/**
 * Walks that look for a live state after a critical transition, and as many for the step before. There must be at least
 * one for each chooser.
 */
export const confirmWalks = 6

/** A finding, in the terms in which it must be found again. */
export interface Claim {
  readonly kind: Violation['kind'] | null
  readonly property: string | null
  readonly schedule: readonly string[]
}

/** What an execution of a violation's schedule did instead, as words to follow `it`; `undefined` if it did the same. */
export const differenceFrom = (
  { kind, property, schedule }: Claim,
  { violation, diverged }: Pick<Replay, 'violation' | 'diverged'>,
): string | undefined => {
  if (diverged) return diverged.message
  const isSafety = kind !== 'liveness' && kind !== null
  if (!violation) return isSafety ? 'did not violate it' : undefined
  const isSame = violation.kind === kind && violation.property === (property ?? undefined)
  if (isSafety && isSame && violation.step === schedule.length) return undefined
  return isSame
    ? `violated it after step ${violation.step} of ${schedule.length} already`
    : `came to another violation: ${headline(violation.message)}`
}

export interface DeathOptions {
  readonly property: string
  readonly walks: number
  /** Length limit of each walk, in steps. */
  readonly walkLength: number
  readonly random: Random
  /** How many of the walks begin on new processes; 0 by default. */
  readonly onNewProcesses?: number
  /** An execution that ends live and leaves the schedule before its last step. */
  readonly closestLive?: readonly string[] | null | undefined
}

/** The result of walks from the end of a schedule. */
export interface Death {
  /** Whether none of them reached a state in which the property holds. */
  readonly isDead: boolean
  readonly walks: number
  /** The result in words to follow `it`. */
  readonly what: string
}

/** Looks for a live state after a schedule with fresh walks. */
export const lookForLife = async (
  cells: Cells,
  schedule: readonly string[],
  { walks, walkLength, ...options }: DeathOptions,
): Promise<Death> => {
  const came = await recover(cells, schedule, { walks, walkLength, ...options })
  const { live, met, failed, isTerminal } = came
  if (live) return { isDead: false, walks: failed + 1, what: `recovered in ${live.length - schedule.length} steps` }
  if (met) return { isDead: false, walks: failed + 1, what: `came to ${headline(met.violation!.message)}` }
  if (isTerminal) return { isDead: true, walks: failed, what: 'has nothing left that could happen' }
  if (failed === 0) return { isDead: false, walks: 0, what: 'came to a crash in every walk, which says nothing' }
  const what = `recovered in none of ${failed} walks of up to ${walkLength} steps`
  return { isDead: true, walks: failed, what }
}

/**
 * Tests whether a schedule still ends with a critical transition: no fresh walk from its end recovers, while from the
 * step before either the closest live execution or a fresh walk does. Returns `undefined` if so, otherwise what the
 * schedule did, as words to follow `it`.
 */
export const differenceFromDeath = async (
  cells: Cells,
  schedule: readonly string[],
  options: DeathOptions,
): Promise<string | undefined> => {
  const { isDead, what } = await lookForLife(cells, schedule, options)
  return isDead ? differenceBeforeDeath(cells, schedule, options) : what
}

/** The second half of that test: whether the step before recovers. */
export const differenceBeforeDeath = async (
  cells: Cells,
  schedule: readonly string[],
  options: DeathOptions,
): Promise<string | undefined> => {
  if (schedule.length === 0 || (await livesAgain(cells, options))) return undefined
  const before: Recovery = await recover(cells, schedule.slice(0, -1), { ...options, onNewProcesses: 0 })
  return before.live ? undefined : `recovered in none of ${before.failed} walks from the step before either`
}

const livesAgain = async (cells: Cells, { property, closestLive }: DeathOptions): Promise<boolean> => {
  if (!closestLive) return false
  const came = await cells.tryRun({ start: startAfter(closestLive) })
  return !(came instanceof Diverged) && came.lastLive.get(property) === closestLive.length
}
