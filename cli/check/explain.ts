import type { Unsteady, Verdict } from '../../checker/verdict/verdict.ts'
import type { Session } from '../session/session.ts'
import { type Repetitions, repeatSchedule } from '../traces/repetition.ts'

/** The result of executing the first schedule that did not repeat again. */
export interface Explanation extends Repetitions {
  /** Whether processes were rewound, as in the check, or each execution began with new processes. */
  readonly inPlace: boolean
  readonly steps: number
}

const timesMax = 20
/** Time limit of an explanation, in milliseconds. After a long check the user does not want to wait longer for it. */
const millisecondsMax = 30_000

/**
 * Why a check is in doubt: executes the first schedule that did not repeat again and again, until the first system call
 * that differs is known. Undefined if everything repeats, or the doubt does not matter to the verdict.
 */
export const explain = async (
  session: Session,
  verdict: Verdict,
  milliseconds: number,
): Promise<Explanation | undefined> => {
  const { unsteady } = verdict
  if (!unsteady || verdict.verdict !== 'undetermined' || session.signal.aborted) return undefined
  const late = AbortSignal.timeout(Math.ceil(Math.min(milliseconds, millisecondsMax)))
  const inTime = AbortSignal.any([session.signal, late])
  const inPlace = session.cluster.isRewound ? await repeat(session, unsteady, inTime, true) : undefined
  if (inPlace?.differs) return inPlace
  const anew = await repeat(session, unsteady, inTime, false)
  return anew.differs || !inPlace ? anew : inPlace
}

const repeat = async (
  { cluster }: Session,
  { schedule, variant }: Unsteady,
  signal: AbortSignal,
  rewind: boolean,
): Promise<Explanation> => {
  if (!rewind) cluster.stopRewinding()
  const came = await repeatSchedule(cluster, schedule, timesMax, { variant, rewind, signal })
  return { ...came, inPlace: rewind, steps: schedule.length }
}
