import {
  type BigIntStats,
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statfsSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { hidesBelow } from '../../linux/attributes.ts'
import { insideDirectory } from '../../linux/inside.ts'
import { AT_FDCWD, libc, requireSuccess } from '../../linux/libc.ts'
import type { Overlay } from '../../linux/mounts.ts'
import { treeOf } from '../files/tree.ts'
import { CannotRewind } from './calls/error.ts'
import { listingOf, putInOrder } from './directory-order.ts'

/** Bytes of files that a mark holds at most; a node with more is not marked. */
const bytesMax = 16 << 20

/** A file with its content, or a directory. */
interface Entry {
  readonly bytes: Buffer | undefined
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly mtimeNs: bigint
}

/** What a node has written to its disk, by path. */
type Content = Map<string, Entry>

/**
 * The private layers of a node's file system. They are restored through the node's own view, as the kernel requires.
 */
export class DiskMark {
  readonly #layers: readonly Overlay[]
  readonly #lowerOf: (directory: string) => string
  readonly #inMemory: readonly string[]
  readonly #contents: readonly Content[]
  readonly #orders: readonly Order[]

  /**
   * @param root descriptor of the node's root directory
   *
   * @param lowerOf returns what is below a layer
   *
   * @param inMemory directories of the node that are empty at each start
   *
   * @throws CannotRewind
   */
  constructor(
    root: number,
    layers: readonly Overlay[],
    lowerOf: (directory: string) => string,
    inMemory: readonly string[],
  ) {
    requireEmpty(root, inMemory)
    this.#layers = layers
    this.#lowerOf = lowerOf
    this.#inMemory = inMemory
    this.#contents = layers.map(({ upper }) => contentOf(upper))
    this.#orders = layers.map(({ upper }, index) => orderOf(upper, this.#contents[index]!))
  }

  /** @param root descriptor of the node's root directory. @throws CannotRewind */
  rewind(root: number): void {
    requireEmpty(root, this.#inMemory)
    for (const [index, { directory, upper }] of this.#layers.entries()) {
      const before = this.#contents[index]!
      const now = contentOf(upper)
      if (before.size === 0 && now.size === 0) continue
      insideDirectory(root, directory, merged => {
        // Guards against ever writing to anything but a private layer.
        if (statfsSync(merged).type !== overlayFileSystem) throw new CannotRewind(`${directory} has no private layer`)
        rewindLayer({ merged, lower: this.#lowerOf(directory), upper, order: this.#orders[index]! }, before, now)
      })
    }
  }
}

const requireEmpty = (root: number, directories: readonly string[]): void => {
  for (const directory of directories)
    if (insideDirectory(root, directory, own => readdirSync(own)).length > 0)
      throw new CannotRewind(`it has files in ${directory}`)
}

/** OVERLAYFS_SUPER_MAGIC */
const overlayFileSystem = 0x794c_7630

/** By path, the order of names in directories with several names. */
type Order = ReadonlyMap<string, readonly string[]>

const orderOf = (upper: string, content: Content): Order => {
  const directories = [...content].flatMap(([path, { bytes }]) => (bytes === undefined ? [path] : []))
  const listings = ['', ...directories].map(path => [path, listingOf(join(upper, path))] as const)
  return new Map(listings.filter(([, names]) => names.length > 1))
}

/** No name in the path is a link, so each path in the node's view leads to the layer. */
const contentOf = (upper: string): Content => {
  const content: Content = new Map()
  let bytes = 0
  for (const { path, entry } of treeOf(upper)) {
    const full = join(upper, path)
    if (!entry.isFile() && !entry.isDirectory()) throw new CannotRewind(`${path} is neither a file nor a directory`)
    const stat = lstatSync(full, { bigint: true })
    if (entry.isDirectory()) {
      if (hidesBelow(full)) throw new CannotRewind(`${path} has replaced another directory`)
      content.set(path, entryOf(stat, undefined))
      continue
    }
    bytes += Number(stat.size)
    if (bytes > bytesMax) throw new CannotRewind(`its files have more than ${bytesMax >> 20} MB`)
    content.set(path, entryOf(stat, readFileSync(full)))
  }
  return content
}

const entryOf = ({ mode, uid, gid, mtimeNs }: BigIntStats, bytes: Buffer | undefined): Entry => ({
  bytes,
  mode: Number(mode),
  uid: Number(uid),
  gid: Number(gid),
  mtimeNs,
})

interface View {
  /** The directory as the node sees it. */
  readonly merged: string
  /** What is below its private layer. */
  readonly lower: string
  /** Its private layer. */
  readonly upper: string
  readonly order: Order
}

const rewindLayer = ({ merged, lower, upper, order }: View, before: Content, now: Content): void => {
  // Deeper paths come later, so removal goes backwards.
  for (const [path, entry] of [...now].reverse())
    if (!before.has(path)) forget(join(merged, path), join(lower, path), entry)
  for (const [path, entry] of before) {
    const found = now.get(path)
    const full = join(merged, path)
    if (entry.bytes === undefined) mkdirSync(full, { recursive: true })
    else if (found?.bytes === undefined || !found.bytes.equals(entry.bytes)) write(full, entry.bytes)
    own(full, entry, found)
  }
  for (const [path, names] of order) putInOrder(() => listed(upper, path, names), join(merged, path), names)
  // Making something in a directory changes its time.
  for (const [path, { mtimeNs }] of [...before].reverse()) setTime(join(merged, path), mtimeNs)
}

/**
 * The given names that a directory lists, in the order of the directory. It may also list others that are below and
 * were only changed.
 */
const listed = (upper: string, path: string, names: readonly string[]): string[] => {
  const known = new Set(names)
  return listingOf(join(upper, path)).filter(name => known.has(name))
}

/** A file that is also below was only changed. Removing it would hide the one below. */
const forget = (path: string, lower: string, now: Entry): void => {
  const below = lstatSync(lower, { throwIfNoEntry: false, bigint: true })
  if (below === undefined) {
    if (now.bytes === undefined) rmdirSync(path)
    else unlinkSync(path)
    return
  }
  if (below.isDirectory() !== (now.bytes === undefined) || !(below.isDirectory() || below.isFile()))
    throw new CannotRewind(`${path} has replaced something of another kind`)
  if (now.bytes !== undefined) write(path, readFileSync(lower))
  own(path, entryOf(below, undefined), now)
  setTime(path, below.mtimeNs)
}

const setTimes = libc.func('int utimensat(int directory, const char *path, void *times, int flags)')
const noFollow = 0x100
/** UTIME_OMIT: keeps the time of the last access. */
const omitted = 0x3fff_fffen
const nanoseconds = 1_000_000_000n

/** As exactly as the file system stores it, because the node's clock at that time is derived from it. */
const setTime = (path: string, mtimeNs: bigint): void => {
  if (lstatSync(path, { bigint: true }).mtimeNs === mtimeNs) return
  const times = BigInt64Array.of(0n, omitted, mtimeNs / nanoseconds, mtimeNs % nanoseconds)
  requireSuccess('utimensat', setTimes(AT_FDCWD, path, Buffer.from(times.buffer), noFollow))
}

/** Gives it its owner and mode. */
const own = (path: string, { uid, gid, mode }: Omit<Entry, 'bytes'>, now: Entry | undefined): void => {
  const isOwned = now?.uid === uid && now.gid === gid
  if (!isOwned) lchownSync(path, uid, gid)
  // Changing the owner clears setuid, so the mode is set afterwards.
  if (!isOwned || now.mode !== mode) chmodSync(path, mode & 0o7777)
}

/** Writes to the existing file, if there is one, because it may be open. */
const write = (path: string, bytes: Buffer): void => {
  if (lstatSync(path, { throwIfNoEntry: false })) {
    truncateSync(path)
    writeFileSync(path, bytes, { flag: 'r+' })
  } else writeFileSync(path, bytes)
}
