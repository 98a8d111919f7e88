import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { CannotCheckpoint } from './error.ts'

/** CRIU (https://criu.org), which writes processes to files and restores them. */
export interface Criu {
  /** The program to run, and the arguments that come before its own. */
  readonly command: readonly [string, ...string[]]
  readonly version: string
}

/** Older versions lack support for the vDSO and for some socket options of newer kernels. */
const oldestCriu = '4.2'

/** Where `lastnail doctor --fix` unpacks it with the libraries that it needs, outside of the system's directories. */
export const criuDirectory = (): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'lastnail', 'criu')

/** @throws CannotCheckpoint if it is missing, too old, or lacks something that it needs */
export const findCriu = (): Criu => {
  const command = unpackedIn(criuDirectory()) ?? installed()
  if (command === undefined) throw new CannotCheckpoint('there is no criu')
  const version = versionOf(command)
  if (isOlder(version, oldestCriu)) throw new CannotCheckpoint(`criu is ${version}, older than ${oldestCriu}`)
  return { command, version }
}

/** Whether a usable CRIU exists. */
export const hasCriu = (): boolean => {
  try {
    findCriu()
    return true
  } catch (error) {
    if (error instanceof CannotCheckpoint) return false
    throw error
  }
}

/** It runs through its own loader, with its own C library. */
const unpackedIn = (root: string): Criu['command'] | undefined => {
  const program = join(root, 'usr/sbin/criu')
  if (!existsSync(program)) return undefined
  const libraries = join(root, 'usr/lib/x86_64-linux-gnu')
  return [join(libraries, 'ld-linux-x86-64.so.2'), '--library-path', libraries, program]
}

const installed = (): Criu['command'] | undefined => {
  const places = (process.env.PATH ?? '').split(delimiter)
  const found = places.map(place => join(place, 'criu')).find(path => existsSync(path))
  return found === undefined ? undefined : [found]
}

/** Cached by path, because starting CRIU takes as long as using it. */
const versions = new Map<string, string>()

const versionOf = (command: Criu['command']): string => {
  const key = command.join(' ')
  const version = versions.get(key) ?? askVersion(command)
  versions.set(key, version)
  return version
}

const askVersion = ([program, ...before]: Criu['command']): string => {
  const { stdout, stderr, error } = spawnSync(program, [...before, '--version'], { encoding: 'utf8' })
  if (error) throw new CannotCheckpoint(`criu does not start: ${error.message}`)
  const version = /^Version:\s*([\d.]+)/m.exec(stdout)?.[1]
  if (version === undefined) throw new CannotCheckpoint(`criu does not start: ${(stderr || stdout).trim()}`)
  return version
}

const isOlder = (version: string, than: string): boolean =>
  version.localeCompare(than, undefined, { numeric: true }) < 0
