import type { ResolvedSystem } from '../config.ts'
import type { Timing } from './timing.ts'

/** What is sent at once arrives in parts of so many bytes: fewer would be more steps, more would arrive later than a part does. */
const messageBytesMax = 64 * 1024

/** A system as an execution has it, where time runs through it and where not. */
export const inTime = (system: ResolvedSystem, timing: Timing | undefined): ResolvedSystem => {
  if (timing === undefined) return system
  return timing.isSearched ? forSearch(system) : timedSystem(system)
}

/**
 * A system as time runs through it: clients call without end, nothing happens that is not due, and no two states are taken
 * for the same.
 */
export const timedSystem = (system: ResolvedSystem): ResolvedSystem => ({
  ...forSearch(system),
  faults: { drop: 0, duplicate: 0, reset: 0, crash: 0, partition: 0 },
  overlap: 0,
  fingerprint: 'none',
})

/** The same for a search that begins in the middle of a run, which may do what time did not. */
const forSearch = (system: ResolvedSystem): ResolvedSystem => ({
  ...system,
  clients: system.clients.map(client => ({ ...client, times: Number.MAX_SAFE_INTEGER })),
  clockSkewMsMax: Number.POSITIVE_INFINITY,
  delayMsMax: Number.POSITIVE_INFINITY,
  messageBytesMax,
})
