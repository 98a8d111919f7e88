import type { Verdict } from '../../checker/verdict/verdict.ts'
import type { FaultKind, ResolvedSystem } from '../../harness/config/config.ts'

/** What no schedule of any system has: see docs/limits.md. */
const never = [
  'small messages that TCP joins, or divides',
  'threads that race without a system call',
  'crashes in the middle of a step',
]

/**
 * The kinds of events that are not among the schedules of a check that executed every schedule to its end. Undefined for
 * any other check, which does not claim that.
 */
export const notAmong = (
  { faults }: Pick<ResolvedSystem, 'faults'>,
  { verdict, coverage }: Pick<Verdict, 'verdict' | 'coverage'>,
): readonly string[] | undefined => {
  if (verdict !== 'held' || !coverage.exhausted) return undefined
  const without = (Object.keys(faults) as FaultKind[]).filter(kind => faults[kind] === 0)
  return [...(without.length === 0 ? [] : [`faults without a budget (${without.join(', ')})`]), ...never]
}
