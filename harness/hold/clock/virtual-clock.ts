import { Periods } from './periods.ts'

/** Durations and instants in nanoseconds, as doubles: exact up to 104 days. */
export type Nanoseconds = number

export const second = 1_000_000_000
export const millisecond = 1_000_000

/** Later instants never come, because a double could not represent them exactly: no timer is offered. */
export const never: Nanoseconds = 90 * 24 * 3600 * second

export type ClockName = 'realtime' | 'monotonic'

/** Time for which a new node's machine has been up: what CLOCK_MONOTONIC shows first. */
const bootedSeconds = 1000

/** Which of the two a clock id of clock_gettime(2) follows; undefined for clocks of CPU time and of devices. */
export const clockNamed = (id: number): ClockName | undefined => {
  if (id === 0 || id === 5 || id === 8 || id === 11) return 'realtime'
  if (id === 1 || id === 4 || id === 6 || id === 7 || id === 9) return 'monotonic'
  return undefined
}

/** A node's time. It stands still until something moves it. */
export class VirtualClock {
  /** Time since the node was created. */
  elapsed: Nanoseconds = 0
  /** How far the wall clock has jumped in all, beyond the time that has passed. */
  jumped: Nanoseconds = 0
  /** Which time the wall clock showed when, in time since the node was created. */
  readonly periods: Periods
  /** What the clocks show when the node is created, in seconds. */
  readonly #start: Readonly<Record<ClockName, number>>

  /** @param realtime when the node is created, in seconds since 1970 */
  constructor(realtime: number, periods = new Periods()) {
    this.#start = { realtime, monotonic: bootedSeconds }
    this.periods = periods
  }

  /** A copy that shows the same time. */
  copy(): VirtualClock {
    const copy = new VirtualClock(this.#start.realtime, this.periods.copy())
    copy.elapsed = this.elapsed
    copy.jumped = this.jumped
    return copy
  }

  /** The instant, in time elapsed, of an absolute time of one of the clocks. */
  instant(clock: ClockName, seconds: number, nanoseconds: number): Nanoseconds {
    return (seconds - this.#start[clock]) * second + nanoseconds - (clock === 'realtime' ? this.jumped : 0)
  }

  /** Whole seconds and remaining nanoseconds that the clock shows now. */
  show(clock: ClockName): { seconds: number; nanoseconds: number } {
    return this.showAt(clock === 'realtime' ? this.wall : this.elapsed, clock)
  }

  /** The time since the node was created, by its wall clock. */
  get wall(): Nanoseconds {
    return this.elapsed + this.jumped
  }

  /** What a clock shows at a given time since the node was created. */
  showAt(elapsed: Nanoseconds, clock: ClockName): { seconds: number; nanoseconds: number } {
    const seconds = Math.floor(elapsed / second)
    return { seconds: this.#start[clock] + seconds, nanoseconds: elapsed - seconds * second }
  }
}
