import { readdirSync } from 'node:fs'
import { UsageError } from '../checker/errors.ts'

const isConfig = (name: string) => /^lastnail\.(.+\.)?config\.[cm]?[jt]s$/.test(name)

/**
 * The configuration of a directory.
 *
 * @throws UsageError where there is none, or more than one
 */
export const findConfig = (directory = '.'): string => {
  const found = readdirSync(directory).filter(isConfig).sort()
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  if (found.length > 1)
    throw new UsageError(`there is more than one configuration here: say which of ${found.join(', ')}`)
  throw new UsageError(
    'expected a configuration: there is no lastnail.config.ts here; "lastnail init COMPOSE" writes one',
  )
}
