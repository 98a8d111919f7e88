import { UsageError } from '../../checker/system/errors.ts'
import { ConfigError } from '../../harness/config/config.ts'
import { noTopology } from '../../harness/timed/links.ts'
import type { TimedLinkChange } from '../../harness/timed/timing.ts'

/**
 * Checks that the links that the configuration changes exist.
 *
 * @param links undefined without a topology
 * @throws ConfigError
 */
export const requireLinks = (
  changes: readonly TimedLinkChange[],
  links: { require(change: TimedLinkChange): unknown } | undefined,
): void => {
  const problems = changes.flatMap(change => {
    try {
      if (links === undefined) throw noTopology()
      links.require(change)
      return []
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      return [`emulation.links, at ${change.atMs} ms: ${error.message}`]
    }
  })
  if (problems.length > 0) throw new ConfigError(problems)
}
