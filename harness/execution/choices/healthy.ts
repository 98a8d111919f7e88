import type { Nanoseconds } from '../../hold/clock/virtual-clock.ts'
import type { ClockReadings } from './delays.ts'

/** A network since it is healthy. Plain data. */
export interface Healthy {
  /** The clocks when that began, in the order of the nodes. */
  readonly base: ClockReadings
  /** How far all clocks have moved since. */
  readonly elapsed: Nanoseconds
}
