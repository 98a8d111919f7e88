import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../checker/system/errors.ts'

const isNamedSo = (name: string) => /^lastnail\.(.+\.)?config\.[cm]?[jt]s$/.test(name)

/** Whether a file with another name is a configuration of this tool: it imports this package. */
const isConfig = (directory: string, name: string): boolean =>
  /\.config\.[cm]?[jt]s$/.test(name) &&
  /\bfrom\s+['"]lastnail['"]|require\(['"]lastnail['"]\)/.test(readFileSync(join(directory, name), 'utf8'))

/**
 * The configuration of a directory: the one named after this tool, otherwise the only one.
 *
 * @throws UsageError if there is none, or more than one
 */
export const findConfig = (directory = '.'): string => {
  const files = readdirSync(directory, { withFileTypes: true })
    .filter(file => !file.isDirectory())
    .map(({ name }) => name)
    .sort()
  const named = files.filter(isNamedSo)
  const found = named.length > 0 ? named : files.filter(name => isConfig(directory, name))
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  if (found.length > 1)
    throw new UsageError(`there is more than one configuration here: say which of ${found.join(', ')}`)
  throw new UsageError('expected a configuration: there is no lastnail.config.ts here; "lastnail init" writes one')
}
