import { OwnCell } from '../../checker/cells/cell.ts'
import { Cells } from '../../checker/cells/cells.ts'
import type { Properties } from '../../checker/cells/executor.ts'
import { type Replay, replay } from '../../checker/cells/replay.ts'
import { select } from '../../checker/cells/select.ts'
import { headline, type Violation } from '../../checker/cells/violation.ts'
import { BudgetSpent } from '../../checker/system/budget.ts'
import { Diverged, UsageError } from '../../checker/system/errors.ts'
import { Random } from '../../checker/system/random.ts'
import {
  confirmWalks,
  type Death,
  differenceBeforeDeath,
  differenceFrom,
  differenceFromDeath,
  lookForLife,
} from '../../checker/verdict/confirm.ts'
import { walksOnNewProcesses } from '../../checker/verdict/recovery.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import type { GlobalState } from '../../harness/config/config.ts'
import type { Session } from '../session/session.ts'
import { type Recorded, record } from './record.ts'

type Claimed = Pick<
  Verdict,
  'verdict' | 'kind' | 'property' | 'schedule' | 'variant' | 'criticalTransition' | 'message' | 'repeated'
> &
  Partial<Pick<Verdict, 'closestLive'>>

/**
 * Executes a finding once more with new processes, and records it in a trace that ends with the result. A violation
 * counts only if it has the same kind, property and step again. A death counts only if fresh walks do not recover from
 * its end but do from the step before. Otherwise the verdict is undetermined and says what happened instead.
 *
 * @param property the only one that was checked, if so
 *
 * @param isWalked whether walks from the end of this schedule were made just now, some of them on new processes
 *
 * @param added fields to add to the verdict in the trace
 *
 * @param milliseconds limit on the walks that confirm a death
 */
export const recordConfirmed = async <Found extends Claimed>(
  session: Session,
  path: string,
  found: Found,
  {
    options,
    property,
    isWalked = false,
    added = {},
    milliseconds,
  }: {
    options: object
    property?: string | undefined
    isWalked?: boolean
    added?: object
    milliseconds?: number | undefined
  },
): Promise<Confirmed<Found>> => {
  // New processes: nothing that an earlier execution left may matter.
  session.cluster.endLives()
  let confirmed = found
  const recorded = () =>
    record(session, path, found.schedule, {
      options,
      property,
      // A check of one property does not look for crashes.
      allowFindings: property !== undefined && found.property === property,
      variant: found.variant,
      conclude: async replayed => {
        const difference = await differenceOf(session, found, replayed, { alone: property, isWalked, milliseconds })
        if (difference !== undefined) confirmed = { ...found, ...unconfirmed(found, difference) }
        return { ...confirmed, ...added }
      },
      concludeCut: (cut, steps) => {
        confirmed = { ...found, ...unconfirmed(found, `was cut short at step ${steps}: ${whyCut(cut)}`) }
        return { ...confirmed, ...added }
      },
    })
  // A death is confirmed by many more executions.
  const { unwritten } = await (found.kind === 'liveness' ? recorded() : session.cluster.keepingNothing(recorded))
  return { confirmed, unwritten }
}

interface Confirmed<Found> extends Pick<Recorded, 'unwritten'> {
  /** The finding, or what it is if it did not repeat. */
  readonly confirmed: Found
}

/**
 * Executes a violation once more with new processes. Returns what they did instead of repeating it at its step, as words
 * to follow `it`; `undefined` if they repeated it.
 */
export const differenceOnNewProcesses = async (
  { cluster }: Session,
  properties: Properties<GlobalState>,
  labels: readonly string[],
  { kind, property, step }: Violation,
): Promise<string | undefined> => {
  cluster.endLives()
  const again = await replay(cluster, properties, labels)
  return differenceFrom({ kind, property: property ?? null, schedule: labels.slice(0, step) }, again)
}

const unconfirmed = ({ message }: Claimed, difference: string): Pick<Verdict, 'verdict' | 'repeated' | 'message'> => ({
  verdict: 'undetermined',
  repeated: false,
  message: `${headline(message)}; executed once more, by new processes, it ${difference}`,
})

const whyCut = ({ what }: BudgetSpent): string => (what === 'aborted' ? 'interrupted' : 'the time was over')

const differenceOf = async (
  session: Session,
  found: Claimed,
  replayed: Replay,
  { alone, isWalked, milliseconds }: { alone: string | undefined; isWalked: boolean; milliseconds: number | undefined },
): Promise<string | undefined> => {
  const difference = differenceFrom(found, replayed)
  if (difference !== undefined || found.verdict !== 'violated' || found.kind !== 'liveness') return difference
  if (replayed.lastLive.get(found.property!) === found.schedule.length) return `ended with ${found.property} live`
  try {
    const { closestLive } = found
    const options = { ...deathOf(session, found), closestLive, onNewProcesses: walksOnNewProcesses }
    const { variant } = found
    const how = { variant, alone, allowFindings: alone !== undefined, milliseconds }
    return await withCells(session, how, cells =>
      (isWalked ? differenceBeforeDeath : differenceFromDeath)(cells, found.schedule, options),
    )
  } catch (error) {
    if (error instanceof Diverged) return error.message
    if (error instanceof BudgetSpent) return `came to its end, and ${whyCut(error)} before walks from there did`
    throw error
  }
}

/**
 * @throws Diverged if the schedule cannot be executed
 *
 * @throws UsageError if the property is no liveness property any more
 */
export const lookForLifeAfter = async (
  session: Session,
  found: Pick<Claimed, 'schedule' | 'property' | 'criticalTransition'>,
): Promise<Death> => {
  const property = found.property!
  const now = select(session.system.properties, property)[property]!
  if (now.kind !== 'eventually')
    throw new UsageError(`${property} was violated as liveness, and now it is of the kind ${now.kind}`)
  return withCells(session, { variant: 0, alone: property }, cells =>
    lookForLife(cells, found.schedule, deathOf(session, found)),
  )
}

const walkLengthMin = 64

const deathOf = (
  { seed }: Session,
  { property, criticalTransition }: Pick<Claimed, 'property' | 'criticalTransition'>,
) => ({
  property: property!,
  walks: confirmWalks,
  walkLength: criticalTransition?.walkLength ?? walkLengthMin,
  // Other random numbers than those of the search.
  random: new Random(seed + 0x5eed),
})

interface WithCells {
  readonly variant: number
  readonly alone: string | undefined
  readonly allowFindings?: boolean
  readonly milliseconds?: number | undefined
}

const withCells = async <Result>(
  { cluster, system, signal }: Session,
  { variant, alone, allowFindings, milliseconds }: WithCells,
  work: (cells: Cells) => Promise<Result>,
): Promise<Result> => {
  const cell = new OwnCell(cluster, select(system.properties, alone), { weights: system.weights, allowFindings })
  try {
    return await work(Cells.of([cell]).within({ signal, milliseconds }).ofVariant(variant))
  } finally {
    await cell.end()
  }
}
