import { expect } from 'vitest'
import { checkConfig } from './cli/check/check.ts'
import { describeFailure } from './cli/check/describe.ts'
import type { CheckOptions } from './cli/command/options.ts'
import { configFrom, type SystemOrPath } from './cli/library.ts'
import { type TryOptions, trySchedule } from './cli/schedules/try-schedule.ts'
import { replayCommand } from './report/model/again.ts'

/**
 * With a `schedule`, that is tried alone, and of the rest only `property`, `seed`, `variant`, `longTurns`,
 * `clocksStart`, `allowSkipped` and `signal` matter.
 */
export interface HoldOptions
  extends CheckOptions,
    Pick<TryOptions, 'variant' | 'allowSkipped' | 'longTurns' | 'clocksStart'> {
  /**
   * Labels, as a verdict has them. The test passes if all of them are executed and nothing is violated. A mended
   * service may not come to all of them any more: `allowSkipped` says which may be skipped.
   */
  readonly schedule?: readonly string[] | undefined
}

interface HoldMatchers<R = unknown> {
  /**
   * A system, or the path of a configuration, violates nothing: in a schedule, or in a search within a budget. A search
   * takes a minute unless told otherwise; the test must be given the time.
   */
  toHold(options?: HoldOptions): Promise<R>
}

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: as vitest declares it
  interface Matchers<T = any> extends HoldMatchers<T> {}
}

expect.extend({
  async toHold(system: SystemOrPath, { schedule, ...options }: HoldOptions = {}) {
    const config = await configFrom(system)
    const found = schedule ? await trySchedule(config, schedule, options) : await search(config, options)
    if (found.verdict === 'undetermined')
      throw new Error([`undetermined: ${found.message}`, ...traceOf(found)].join('\n'))
    const { name } = config.definition
    return {
      pass: found.verdict === 'held',
      message: () =>
        found.verdict === 'held' ? `expected ${name} not to hold, but ${found.message}` : describeFailure(name, found),
    }
  },
})

/** The trace of what a search could not decide. */
const traceOf = (found: object): string[] => {
  const trace = 'trace' in found && typeof found.trace === 'string' ? found.trace : undefined
  return trace ? [`trace: ${trace}`, `again: ${replayCommand(trace)}`] : []
}

const search = async (config: Awaited<ReturnType<typeof configFrom>>, options: CheckOptions) => {
  const { verdict, trace, state, unwritten = [] } = await checkConfig(config, options)
  const { schedule } = verdict
  const message = [verdict.message, ...unwritten].join('; ')
  return { verdict: verdict.verdict, message, schedule, trace, state }
}
