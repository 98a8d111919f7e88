import type { SystemDefinition } from '../harness/config.ts'
import { configOf, loadConfig } from './load-config.ts'
import type { CheckOptions } from './options.ts'
import { type Outcome, outcomeOf } from './outcome.ts'

/** A system made by `defineSystem`, whose paths are relative to the current directory, or the path of a configuration. */
export type SystemOrPath = SystemDefinition | string

/**
 * Checks a system as `lastnail check` does, and gives what that prints with `--json`. It runs on this very thread, which
 * holds the system's processes, and pins it to one CPU for good.
 *
 * Rejects with an error of one line: a `ConfigError` for a wrong configuration, a `UsageError` for wrong options, and
 * `MachineLacks` where this machine cannot hold processes.
 */
export const check = async (system: SystemOrPath, options: CheckOptions = {}): Promise<Outcome> => {
  // Every configuration loads this module, and few check anything themselves.
  const [{ checkConfig }, { requireCheckOptions }] = await Promise.all([
    import('./check.ts'),
    import('./check-options.ts'),
  ])
  requireCheckOptions(options)
  return outcomeOf(await checkConfig(await configFrom(system), options))
}

export const configFrom = async (system: SystemOrPath) =>
  typeof system === 'string' ? loadConfig(system) : configOf(system)
