import { Diverged } from '../errors.ts'
import type { System } from '../system.ts'
import { Executor, type Observer, type Properties } from './executor.ts'
import { follow } from './schedule.ts'
import type { Violation } from './violation.ts'

/** What became of a schedule that was executed again. */
export interface Replay {
  /** Steps executed. */
  readonly steps: number
  /** The first violation of safety, crash or divergence of a node. */
  readonly violation: Violation | undefined
  /** By liveness property, the last step after which it was live; a property that never was is absent. */
  readonly lastLive: ReadonlyMap<string, number>
  /** Where the system offered other choices than the schedule needs. */
  readonly diverged: Diverged | undefined
}

/** Executes a schedule from the initial state. An `observer` sees each step, and so can record it. */
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
