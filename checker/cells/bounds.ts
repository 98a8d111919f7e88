import type { System } from '../system/system.ts'

/** What an execution keeps within. Plain data. */
export interface Bounds {
  /** Share of its usual bound that a node may compute in a step before it counts as diverging; 1 by default. */
  readonly patience?: number | undefined
  /** The longest time that a message may be in flight, in milliseconds; by default the system's own limit. */
  readonly delayMsMax?: number | undefined
  /** How far clocks may be apart, in milliseconds; by default the system's own limit. */
  readonly skewMsMax?: number | undefined
}

/** Sets the bounds of the next execution. A system keeps those of the last one until then. */
export const bind = <State>(
  system: System<State>,
  { patience = 1, delayMsMax = Number.POSITIVE_INFINITY, skewMsMax = Number.POSITIVE_INFINITY }: Bounds = {},
): void => {
  system.processes?.setPatience(patience)
  system.setDelayMsMax?.(delayMsMax)
  system.setSkewMsMax?.(skewMsMax)
}
