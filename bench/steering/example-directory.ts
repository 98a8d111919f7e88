import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../corpus/package-root.ts'

/**
 * Path of an example whose programs use packages of npm.
 *
 * @throws if these are not installed: its programs would crash, with and without steering
 */
export const exampleDirectory = (name: string): string => {
  const directory = join(packageRoot, 'examples', name)
  if (existsSync(join(directory, 'node_modules'))) return directory
  throw new Error(`its packages are missing: run \`npm ci\` in ${directory} first`)
}
