import { Diverged } from '../errors.ts'
import type { System } from '../system.ts'
import { Executor, type Observer, type Properties } from './executor.ts'
import { follow } from './schedule.ts'
import type { Violation } from './violation.ts'

/** The result of executing a schedule again. */
export interface Replay {
  /** Steps executed. */
  readonly steps: number
  /** The first safety violation, crash or divergence. */
  readonly violation: Violation | undefined
  /** By liveness property: the last step after which it held. Absent if it never held. */
  readonly lastLive: ReadonlyMap<string, number>
  /** Where the system did not enable what the schedule needs. */
  readonly diverged: Diverged | undefined
}

/** Executes a schedule from the initial state. An `observer` sees each step, so that it can record it. */
export const replay = async <State>(
  system: System<State>,
  properties: Properties<State>,
  schedule: readonly string[],
  observer?: Observer<State>,
  variant = 0,
): Promise<Replay> => {
  const executor = new Executor(system, properties, { observer })
  let diverged: Diverged | undefined
  try {
    await executor.reset(variant)
    await follow(executor, schedule)
  } catch (error) {
    if (!(error instanceof Diverged)) throw error
    diverged = error
  } finally {
    executor.end()
  }
  return { steps: executor.schedule.length, violation: executor.violation, lastLive: executor.lastLive, diverged }
}
