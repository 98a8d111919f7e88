import type { Critical } from './critical.ts'
import { slowMs } from './slow-network.ts'

const confidence = 0.95

/**
 * Upper bound on the chance that such a walk recovers, after this many did not: with a larger chance, one would have
 * recovered with 95 % confidence. Each further suspect is another chance for walks to fail by accident, so the
 * confidence is divided among them (Bonferroni).
 *
 * @param walks the number of walks, none of which recovered
 *
 * @param suspects the number of suspects examined
 */
export const recoveryRateMax = (walks: number, suspects: number): number =>
  1 - ((1 - confidence) / Math.max(1, suspects)) ** (1 / walks)

/** A state that is called dead, and the evidence in one line: what was tried, and how certain the result is. */
export const describeDeath = (
  property: string,
  label: string,
  critical: Critical,
  suspects: number,
): { readonly dead: string; readonly evidence: string } => {
  const dead = `${property} can never hold again after step ${critical.step} (${label})`
  if (critical.isTerminal && critical.walks === 0) return { dead, evidence: 'only faults are enabled there' }
  const ended = critical.isTerminal ? ', each of which ended where only faults are enabled' : ''
  const evidence = `${describeWalks(critical)}${ended}${describeSearch(critical)}${describeRate(critical, suspects)}`
  return { dead, evidence }
}

const describeWalks = ({ walks, walkLength, longer, healthy, conversing, isBound }: Critical): string => {
  const among = [
    ...(isBound ? [`with no message in flight for longer than ${slowMs / 1000} s`] : []),
    ...(healthy > 0 ? [`${healthy} of them with prompt messages`] : []),
    ...(conversing > 0 ? [`${conversing} with one conversation after the other`] : []),
    ...(longer.walks > 0 ? [`nor in ${longer.walks} longer ones, the longest of ${longer.longest} steps`] : []),
    ...(longer.healthy > 0 ? [`${longer.healthy} of these with prompt messages`] : []),
  ]
  return [`it did not recover in ${walks} walks of up to ${walkLength} steps`, ...among].join(', ')
}

const describeSearch = ({ searched }: Critical): string => {
  if (!searched) return ''
  const { known, schedules, depth, exhausted } = searched
  const ways = known > 0 ? `${known} ways that live executions went, or ` : ''
  const all = exhausted
    ? 'every schedule from there'
    : `${schedules} schedules from there, all of up to ${depth} steps among them`
  return `, nor did ${ways}${all}`
}

const describeRate = ({ walks }: Critical, suspects: number): string => {
  const percent = (100 * recoveryRateMax(walks, suspects)).toPrecision(2)
  const corrected = suspects > 1 ? `, corrected for ${suspects} suspects` : ''
  return `; with 95 % confidence fewer than ${percent} % of such walks recover${corrected}`
}
