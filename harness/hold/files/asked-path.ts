import { lstatSync, readlinkSync } from 'node:fs'
import { basename, isAbsolute } from 'node:path/posix'
import { AT_FDCWD } from '../../../linux/libc.ts'
import type { HeldThread } from '../held/held-node.ts'
import { countedNames } from './counter-files.ts'
import { shownNames } from './kernel-files.ts'
import { randomNames } from './random-files.ts'

const names = new Set([...randomNames, ...shownNames, ...countedNames])

/** Whether a path leads through itself or back. */
const isRoundabout = /\/\.{0,2}(?:\/|$)/

/**
 * The absolute path that a thread means, without detours, if it may be of a file that is shown in another form; other
 * paths stay as they are, because finding where a directory is takes time.
 *
 * @param directory the descriptor from which a relative path counts
 */
export const pathMeant = (thread: HeldThread, directory: number, path: string): string => {
  if ((isAbsolute(path) && !isRoundabout.test(path)) || !names.has(basename(path))) return path
  try {
    return withoutDetours(thread, isAbsolute(path) ? path : `${placeOf(thread, directory)}/${path}`)
  } catch {
    // There is no such descriptor or directory, which the call itself will say.
    return path
  }
}

const placeOf = ({ tid }: HeldThread, directory: number): string =>
  readlinkSync(`/proc/${tid}/${directory === AT_FDCWD ? 'cwd' : `fd/${directory}`}`)

/** The path stays as it is if it leads back from a link, whose parent is not the directory in which the link is. */
const withoutDetours = (thread: HeldThread, path: string): string => {
  let meant = ''
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') meant += `/${part}`
    else if (leadsAway(thread, meant)) return path
    else meant = meant.slice(0, Math.max(0, meant.lastIndexOf('/')))
  }
  return meant
}

/** `/proc/self` is a link to its own neighbour, and this process has another number. */
const leadsAway = ({ tid, process: { innerPid } }: HeldThread, directory: string): boolean =>
  directory !== '' &&
  directory !== '/proc/self' &&
  lstatSync(`/proc/${tid}/root${directory.replace(/^\/proc\/self(?=\/)/, `/proc/${innerPid}`)}`).isSymbolicLink()
