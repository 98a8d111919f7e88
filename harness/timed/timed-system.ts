import { faultKinds } from '../../checker/happening/kinds.ts'
import type { ResolvedSystem } from '../config/config.ts'
import type { Timing } from './timing.ts'

/**
 * Larger writes arrive in parts of this many bytes. Smaller parts mean more steps; larger parts delay their first
 * bytes.
 */
const messageBytesMax = 64 * 1024

const noFaults = Object.fromEntries(faultKinds.map(kind => [kind, 0])) as ResolvedSystem['faults']

/** The system as an execution uses it, with or without time. */
export const systemInTime = (system: ResolvedSystem, timing: Timing | undefined): ResolvedSystem => {
  if (timing === undefined) return system
  return timing.isSearched ? forSearch(system) : timedSystem(system)
}

/**
 * The system for a timed execution: clients call without end, nothing happens before it is due, and no two states are
 * considered equal.
 */
export const timedSystem = (system: ResolvedSystem): ResolvedSystem => ({
  ...forSearch(system),
  faults: noFaults,
  overlap: 0,
  divide: 0,
  fingerprint: 'none',
})

/** The system for a search that begins within a run: the run's bounds on calls, clocks and delays do not apply. */
const forSearch = (system: ResolvedSystem): ResolvedSystem => ({
  ...system,
  clients: system.clients.map(client => ({ ...client, times: Number.MAX_SAFE_INTEGER })),
  clockSkewMsMax: Number.POSITIVE_INFINITY,
  delayMsMax: Number.POSITIVE_INFINITY,
  messageBytesMax,
})
