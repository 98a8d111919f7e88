import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { libc, requireSuccess } from '../../linux/libc.ts'
import type { Inode } from '../unsynced/operation.ts'
import { loseIn, type PowerOutcome } from '../unsynced/outcomes.ts'
import { Tree } from '../unsynced/tree.ts'
import type { Disk } from './disk.ts'

/** Where a file of a node is: in its private layer, over what is below. */
interface Place {
  readonly upper: string
  readonly lower: string
}

/**
 * Leaves on a disk that no life uses what a power failure leaves. What is left lasts from then on.
 *
 * @param lowerOf what is below a layer, as a path in this process
 */
export const losePower = (disk: Disk, outcome: PowerOutcome, lowerOf: (directory: string) => string): void => {
  const { unsynced } = disk
  if (unsynced === undefined) return
  const { operations, files } = unsynced
  const placeOf = placesOf(disk, lowerOf)
  const before = new Tree()
  let unnumbered = 0
  const see = (path: string): void => {
    const place = placeOf(path)
    const inode = place && inodeAt(place)
    if (inode === undefined) return
    const file = files.get(path) ?? --unnumbered
    before.names.set(path, file)
    before.inodes.set(file, inode)
  }
  for (const operation of operations) {
    see(operation.path)
    if (operation.does !== 'rename') continue
    see(operation.from)
    const { path } = operation
    if (before.at(path)?.kind === 'directory')
      for (const below of everythingBelow(placeOf(path)!)) see(`${path}/${below}`)
  }
  const after = new Tree()
  for (const [path, file] of before.names) after.names.set(path, file)
  for (const [file, inode] of before.inodes) after.inodes.set(file, inode)
  loseIn(after, operations, outcome)
  // What was made and lost again may have had other names in between.
  const paths = [...new Set([...before.names.keys(), ...after.names.keys()])].sort()
  for (const path of paths.toReversed()) if (after.at(path) === undefined) remove(placeOf(path))
  for (const path of paths) {
    const inode = after.at(path)
    if (inode !== undefined && inode !== before.at(path)) put(placeOf(path), inode)
  }
  unsynced.syncAll()
}

const placesOf =
  ({ layers }: Disk, lowerOf: (directory: string) => string) =>
  (path: string): Place | undefined => {
    const [layer] = layers
      .filter(({ directory }) => isBelow(path, directory))
      .sort((one, other) => other.directory.length - one.directory.length)
    if (layer === undefined) return undefined
    const rest = relative(layer.directory, path)
    return { upper: join(layer.upper, rest), lower: join(lowerOf(layer.directory), rest) }
  }

const isBelow = (path: string, directory: string): boolean => directory === '/' || path.startsWith(`${directory}/`)

const statOf = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // A directory of it is a file.
    return undefined
  }
}

const inodeAt = ({ upper, lower }: Place): Inode | undefined => {
  const above = statOf(upper)
  const [path, stat] = above ? [upper, above] : [lower, statOf(lower)]
  if (stat === undefined || isHidden(stat)) return undefined
  const { mode, uid, gid } = stat
  const common = { mode: mode & 0o7777, uid, gid }
  if (stat.isDirectory()) return { ...common, kind: 'directory' }
  if (stat.isSymbolicLink()) return { ...common, kind: 'link', target: readlinkSync(path) }
  return stat.isFile() ? { ...common, kind: 'file', bytes: readFileSync(path) } : undefined
}

/** A whiteout: a device with the number 0 hides what is below. */
const isHidden = (stat: Stats): boolean => stat.isCharacterDevice() && stat.rdev === 0

const everythingBelow = ({ upper }: Place): string[] =>
  existsSync(upper) ? readdirSync(upper, { recursive: true, encoding: 'utf8' }) : []

const mknod = libc.func('int mknod(const char *path, unsigned int mode, unsigned long device)')
const characterDevice = 0o020000

const remove = (place: Place | undefined): void => {
  if (place === undefined) return
  rmSync(place.upper, { recursive: true, force: true })
  if (statOf(place.lower) && existsSync(join(place.upper, '..')))
    requireSuccess('mknod', mknod(place.upper, characterDevice, 0))
}

/** A file whose directory is lost is lost. */
const put = (place: Place | undefined, inode: Inode): void => {
  if (place === undefined || !statOf(join(place.upper, '..'))?.isDirectory()) return
  const now = statOf(place.upper)
  if (now && (isHidden(now) || !isOf(now, inode))) rmSync(place.upper, { recursive: true })
  if (inode.kind === 'link') symlinkSync(inode.target, place.upper)
  else if (inode.kind === 'directory') mkdirSync(place.upper, { recursive: true })
  else writeFileSync(place.upper, inode.bytes)
  lchownSync(place.upper, inode.uid, inode.gid)
  if (inode.kind !== 'link') chmodSync(place.upper, inode.mode)
}

const isOf = (stat: Stats, { kind }: Inode): boolean =>
  kind === 'file' ? stat.isFile() : kind === 'directory' && stat.isDirectory()
