import { lstatSync, readdirSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { makeDirectories } from '../../checker/system/written.ts'
import { createRunDirectory } from '../../harness/files/run-directory.ts'

const writableByOthers = 0o022
/** With more files than this, those that are older than a day are removed. */
const filesMax = 200
const day = 24 * 3600 * 1000

/**
 * Directory for compiled JavaScript of configurations, which later commands read instead of compiling them again; that
 * takes a fifth of a second. Each file names the hash of its source. If nobody else can write to the user's cache it is
 * there, otherwise it is of this run.
 */
export const translationsDirectory = (): string => {
  try {
    const directory = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'lastnail', 'configurations')
    makeDirectories(directory, 0o700)
    if (!isOnlyMine(directory)) return createRunDirectory()
    prune(directory)
    return directory
  } catch {
    return createRunDirectory()
  }
}

const isOnlyMine = (directory: string): boolean => {
  const entry = lstatSync(directory)
  return entry.isDirectory() && entry.uid === process.geteuid!() && (entry.mode & writableByOthers) === 0
}

const prune = (directory: string): void => {
  const names = readdirSync(directory)
  if (names.length <= filesMax) return
  for (const path of names.map(name => join(directory, name)))
    if (Date.now() - statSync(path).mtimeMs > day) rmSync(path, { force: true })
}
