import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ConfigError } from '../../config/config.ts'

const places = [import.meta.url, join(process.cwd(), 'package.json')]

/**
 * A package that users install beside this one. Loaded synchronously, because a client that does nothing for a while counts as
 * done.
 *
 * @throws ConfigError if it is not installed
 */
export const peer = <Package>(name: string, wantedBy: string): Package => {
  for (const place of places) {
    try {
      return createRequire(place)(name) as Package
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw new ConfigError([`${wantedBy}: expected the package ${name}, found none: npm install --save-dev ${name}`])
}
