import { readlinkSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path/posix'
import { AT_FDCWD } from '../../proxy/libc.ts'
import { countedNames } from './counter-files.ts'
import type { HeldThread } from './held-node.ts'
import { shownNames } from './kernel-files.ts'

const names = new Set(['random', 'urandom', ...shownNames, ...countedNames])

/** Whether a path leads through itself or back. */
const isRoundabout = /\/\.{0,2}(?:\/|$)/

/**
 * The absolute path that a thread means, without detours, if it may be of a file that is shown in another form; other
 * paths stay as they are, because finding where a directory is takes time.
 *
 * @param directory the descriptor from which a relative path counts
 */
export const pathMeant = (thread: HeldThread, directory: number, path: string): string => {
  if (isAbsolute(path)) return isRoundabout.test(path) ? normalize(path) : path
  return names.has(path.slice(path.lastIndexOf('/') + 1)) ? from(thread, directory, path) : path
}

const from = ({ tid }: HeldThread, directory: number, path: string): string => {
  const place = directory === AT_FDCWD ? 'cwd' : `fd/${directory}`
  try {
    return join(readlinkSync(`/proc/${tid}/${place}`), path)
  } catch {
    // There is no such descriptor, which the call itself will say.
    return path
  }
}
