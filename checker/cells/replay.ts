import { Diverged } from '../system/errors.ts'
import type { System } from '../system/system.ts'
import { bind } from './bounds.ts'
import { Executor, type ExecutorOptions, type Properties } from './executor.ts'
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

export interface ReplayOptions<State> extends ExecutorOptions<State> {
  /** Which random numbers the nodes draw; 0 by default. */
  readonly variant?: number | undefined
}

/**
 * Executes a schedule from the initial state; bounds of earlier executions do not apply. Each step is passed to
 * `observer`, for example to record it.
 */
export const replay = async <State>(
  system: System<State>,
  properties: Properties<State>,
  schedule: readonly string[],
  { variant, ...options }: ReplayOptions<State> = {},
): Promise<Replay> => {
  const executor = new Executor(system, properties, options)
  let diverged: Diverged | undefined
  bind(system)
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
