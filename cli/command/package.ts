import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The nearest directory above that is a package: sources, what is built of them and what is bundled lie at different depths. */
const rootAbove = (directory: string): string =>
  existsSync(join(directory, 'package.json')) ? `${directory}/` : rootAbove(dirname(directory))

export const packageRoot = rootAbove(import.meta.dirname)

export const version: string = JSON.parse(readFileSync(`${packageRoot}package.json`, 'utf8')).version
