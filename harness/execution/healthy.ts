import type { Nanoseconds } from '../hold/clock/virtual-clock.ts'
import type { Clocks } from './delays.ts'

/** A network since it is healthy. Plain data. */
export interface Healthy {
  /** The clocks when that began, in the order of the nodes. */
  readonly base: Clocks
  /** How far all clocks have moved since. */
  readonly elapsed: Nanoseconds
}
