import { Periods } from './periods.ts'

/** Durations and instants in nanoseconds, as doubles: exact up to 104 days. */
export type Nanoseconds = number

export const second = 1_000_000_000
export const millisecond = 1_000_000

/** Later instants count as never, because a double could not represent them exactly. */
export const never: Nanoseconds = 90 * 24 * 3600 * second

/** What a new node's clocks show: 2026-01-01T00:00:00Z, 1,000 s after boot. */
const start = { realtime: Date.UTC(2026, 0, 1) / 1000, monotonic: 1000 } as const

export type ClockName = keyof typeof start

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
  /** Which time the clock showed when. */
  readonly periods: Periods

  constructor(periods = new Periods()) {
    this.periods = periods
  }

  /** A copy that shows the same time. */
  copy(): VirtualClock {
    const copy = new VirtualClock(this.periods.copy())
    copy.elapsed = this.elapsed
    return copy
  }

  /** The instant, in time elapsed, of an absolute time of one of the clocks. */
  instant(clock: ClockName, seconds: number, nanoseconds: number): Nanoseconds {
    return Math.min((seconds - start[clock]) * second + nanoseconds, never)
  }

  /** Whole seconds and remaining nanoseconds that the clock shows now. */
  show(clock: ClockName): { seconds: number; nanoseconds: number } {
    return this.showAt(this.elapsed, clock)
  }

  /** The same at a given time elapsed. */
  showAt(elapsed: Nanoseconds, clock: ClockName): { seconds: number; nanoseconds: number } {
    const seconds = Math.floor(elapsed / second)
    return { seconds: start[clock] + seconds, nanoseconds: elapsed - seconds * second }
  }
}
