import type { ResolvedSystem } from '../../harness/config/config.ts'

const dayMs = 24 * 3600 * 1000

/**
 * What nodes' clocks show first when something is executed for the first time. By default the next midnight (UTC): it is
 * after everything that nodes are given was made, certificates for example, and the same for a whole day.
 */
export const clocksStartFor = ({ clocksStart }: ResolvedSystem): string =>
  clocksStart ?? instant(Math.ceil(Date.now() / dayMs) * dayMs)

/** The same for a run at the pace of this machine's clock, whose clients outside compare the nodes' clocks to theirs. */
export const clocksStartNow = ({ clocksStart }: Partial<ResolvedSystem> = {}): string =>
  clocksStart ?? instant(Date.now())

/** An ISO date and time, to the second. */
const instant = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+/, '')
