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
export const explain = async (session: Session, verdict: Verdict): Promise<Explanation | undefined> => {
  const { unsteady } = verdict
  if (!unsteady || verdict.verdict !== 'undetermined' || session.signal.aborted) return undefined
  const inPlace = session.cluster.isRewound ? await repeat(session, unsteady, true) : undefined
  if (inPlace?.differs) return inPlace
  const anew = await repeat(session, unsteady, false)
  return anew.differs || !inPlace ? anew : inPlace
}

const repeat = async (
  { cluster, signal }: Session,
  { schedule, variant }: Unsteady,
  rewind: boolean,
): Promise<Explanation> => {
  if (!rewind) cluster.stopRewinding()
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(millisecondsMax)])
  const came = await repeatSchedule(cluster, schedule, timesMax, { variant, rewind, signal: inTime })
  return { ...came, inPlace: rewind, steps: schedule.length }
}
