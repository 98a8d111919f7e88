import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** There can be no directory of run directories, or another user made it, or could change it. */
export class UnsafeRunRoot extends Error {
  override readonly name = 'UnsafeRunRoot'
}

/** The user outside of user namespaces; inside of one's own, one is root (user_namespaces(7)). */
export const realUser = (): number => {
  const user = process.getuid!()
  for (const range of readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n')) {
    const [inside, outside, count] = range.trim().split(/\s+/).map(Number) as [number, number, number]
    if (inside <= user && user < inside + count) return outside + user - inside
  }
  return user
}

/**
 * Path of the directory for this user's run directories. It is in memory if possible, because nodes are started
 * thousands of times.
 */
export const runRoot = (): string => {
  const user = realUser()
  return join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), user === 0 ? 'lastnail' : `lastnail-${user}`)
}

const privateMode = 0o700
const writableByOthers = 0o022
const sticky = 0o1000

/**
 * Makes sure that the run root exists and that only this user can put anything into it. Its parent is writable for
 * everybody, so another user may have made it first.
 *
 * @returns its path
 *
 * @throws UnsafeRunRoot with the remedy, or the reason
 */
export const requireRunRoot = (): string => {
  const root = runRoot()
  requireSticky(dirname(root))
  makeDirectory(root)
  const descriptor = openDirectory(root)
  if (descriptor === undefined) throw refusal(root, 'it is no directory')
  try {
    const { uid, mode } = fstatSync(descriptor)
    if (uid !== process.geteuid!()) throw refusal(root, `it belongs to user ${uid}`)
    if (mode & writableByOthers) throw refusal(root, 'other users may write to it')
    if ((mode & 0o777) !== privateMode) fchmodSync(descriptor, privateMode)
  } finally {
    closeSync(descriptor)
  }
  return root
}

/** With less than this left, in bytes, a node may have failed for want of space. */
const spaceMin = 1 << 20

/**
 * Must be called before a node that ended is accused: it may have ended because what it wrote found no space.
 *
 * @throws NoSpace
 */
export const requireSpace = (): void => {
  const parent = dirname(runRoot())
  const { bavail, bsize } = statfsSync(parent)
  if (bavail * bsize < spaceMin) throw new NoSpace(parent)
}

/** The file system with what nodes write is full. */
export class NoSpace extends Error {
  override readonly name = 'NoSpace'

  constructor(parent: string) {
    super(
      `no space is left in ${parent}, where what nodes write is: remove something, or make it larger${remedy(parent)}`,
    )
  }
}

const remedy = (parent: string): string =>
  parent === '/dev/shm' ? ' (mount -o remount,size=1g /dev/shm; a container needs --shm-size=1g)' : ''

/** Opens a directory itself and follows no link. Undefined if it is something else or does not exist. */
export const openDirectory = (path: string): number | undefined => {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch (error) {
    if (['ENOTDIR', 'ELOOP', 'ENOENT', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** Without the sticky bit, others could rename ours and put their own there. The parent's owner could in any case. */
const requireSticky = (parent: string): void => {
  const { mode, uid } = statOf(parent)
  const user = process.geteuid!()
  // In a user namespace the machine's root has no number of its own, as other users have none.
  if (uid !== 0 && uid !== user && realUser() === user)
    throw new UnsafeRunRoot(
      `${parent} is not safe for run directories: user ${uid}, whose it is, may rename what is in it`,
    )
  if (mode & writableByOthers && !(mode & sticky))
    throw new UnsafeRunRoot(
      `${parent} is not safe for run directories: other users may rename what is in it; chmod +t ${parent}`,
    )
}

const statOf = (parent: string) => {
  try {
    return statSync(parent)
  } catch (cause) {
    throw new UnsafeRunRoot(`expected a directory for what nodes write: ${(cause as Error).message}`, { cause })
  }
}

const makeDirectory = (path: string): void => {
  try {
    mkdirSync(path, { mode: privateMode })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new UnsafeRunRoot(`cannot make the directory of run directories: ${message}`)
  }
}

const refusal = (root: string, why: string) =>
  new UnsafeRunRoot(`${root} is not safe for run directories: ${why}; remove it`)
