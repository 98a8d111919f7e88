import type { SystemDefinition } from '../harness/config/config.ts'
import { type CheckOutcome, outcomeOf } from './check/outcome.ts'
import type { CheckOptions } from './command/options.ts'
import { configOf, loadConfig } from './config/load-config.ts'

/** A system made by `defineSystem`, with paths relative to the current directory, or the path of a configuration. */
export type SystemOrPath = SystemDefinition | string

/**
 * Checks a system as `lastnail check` does, and returns what that prints with `--json`. The calling thread holds the
 * system's processes and is pinned to one CPU from then on.
 *
 * Rejects with a one-line error: a `ConfigError` for a wrong configuration, a `UsageError` for wrong options, and
 * `MachineLacks` if this machine cannot hold processes.
 */
export const check = async (system: SystemOrPath, options: CheckOptions = {}): Promise<CheckOutcome> => {
  // Every configuration loads this module, but few check anything themselves, so the rest is loaded on use.
  const [{ checkConfig }, { requireCheckOptions }] = await Promise.all([
    import('./check/check.ts'),
    import('./command/check-options.ts'),
  ])
  requireCheckOptions(options)
  return outcomeOf(await checkConfig(await configFrom(system), options))
}

export const configFrom = async (system: SystemOrPath) =>
  typeof system === 'string' ? loadConfig(system) : configOf(system)
