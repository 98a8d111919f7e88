import { type BigIntStats, copyFileSync, lstatSync, mkdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { hidesBelow } from '../../linux/attributes.ts'
import { withFile } from '../../linux/descriptor.ts'
import { insideDirectory } from '../../linux/inside.ts'
import { isInOverlay, type Overlay } from '../../linux/mounts.ts'
import { treeOf } from '../files/tree.ts'
import { CannotRewind } from './calls/error.ts'
import { listingOf, putInOrder } from './directory-order.ts'
import { giveOwner, type Owner, ownerOf, setTime } from './file-attributes.ts'
import { isEqualContent, lengthWritten, putBack, type SparseContent, sparseContentOf } from './memory/sparse-content.ts'

/** Bytes of files that a mark of one layer holds at most; a node with more is not marked. */
const bytesMax = 256 << 20

/**
 * A file with its content, a directory, a socket, which is the same for as long as nobody removes it, or a file that is
 * below and was removed.
 */
interface Entry extends Owner {
  readonly kind: Kind
  readonly inode: bigint
  /** Of a file. */
  readonly content: SparseContent | undefined
  readonly mtimeNs: bigint
}

type Kind = 'file' | 'directory' | 'socket' | 'removed'

/** What a node has written to its disk, by path. */
type Content = ReadonlyMap<string, Entry>

const nothing: Content = new Map()

/**
 * The private layers of a node's file system. They are restored through the node's own view, as the kernel requires.
 */
export class DiskMark {
  readonly #layers: readonly Overlay[]
  readonly #lowerOf: (directory: string) => string
  readonly #contents: readonly Content[]
  readonly #orders: readonly Order[]

  /**
   * @param lowerOf returns what is below a layer
   *
   * @param last another mark of the same disk, from which this one takes what is the same
   *
   * @throws CannotRewind
   */
  constructor(layers: readonly Overlay[], lowerOf: (directory: string) => string, last?: DiskMark) {
    this.#layers = layers
    this.#lowerOf = lowerOf
    this.#contents = layers.map(({ upper }, index) => contentOf(upper, last ? last.#contents[index]! : nothing))
    this.#orders = layers.map(({ upper }, index) => orderOf(upper, this.#contents[index]!))
  }

  /** @param root descriptor of the node's root directory. @throws CannotRewind */
  rewind(root: number): void {
    for (const [index, { directory, upper }] of this.#layers.entries()) {
      const before = this.#contents[index]!
      const now = contentOf(upper, before)
      if (before.size === 0 && now.size === 0) continue
      insideDirectory(root, directory, merged => {
        // Guards against ever writing to anything but a private layer.
        if (!isInOverlay(merged)) throw new CannotRewind(`${directory} has no private layer`)
        rewindLayer({ merged, lower: this.#lowerOf(directory), upper, order: this.#orders[index]! }, before, now)
      })
    }
  }
}

/** By path, the order of names in directories with several names. */
type Order = ReadonlyMap<string, readonly string[]>

const orderOf = (upper: string, layer: Content): Order => {
  const directories = [...layer].flatMap(([path, { kind }]) => (kind === 'directory' ? [path] : []))
  const isThere = (path: string) => layer.get(path)?.kind !== 'removed'
  const listings = ['', ...directories].map(path => {
    const names = listingOf(join(upper, path)).filter(name => isThere(join(path, name)))
    return [path, names] as const
  })
  return new Map(listings.filter(([, names]) => names.length > 1))
}

/** No name in the path is a link, so each path in the node's view leads to the layer. */
const contentOf = (upper: string, last: Content): Content => {
  const layer = new Map<string, Entry>()
  let bytes = 0
  for (const { path, entry } of treeOf(upper)) {
    const full = join(upper, path)
    const stat = lstatSync(full, { bigint: true })
    if (kindOf(stat) === undefined) throw new CannotRewind(`${path} is no file, directory or socket`)
    if (!entry.isFile()) {
      if (entry.isDirectory() && hidesBelow(full)) throw new CannotRewind(`${path} has replaced another directory`)
      layer.set(path, entryOf(stat, undefined))
      continue
    }
    const content = withFile(full, 'r', fd => sparseContentOf(fd, last.get(path)?.content))
    bytes += lengthWritten(content)
    if (bytes > bytesMax) throw new CannotRewind(`its files have more than ${bytesMax >> 20} MB`)
    layer.set(path, entryOf(stat, content))
  }
  return layer
}

const kindOf = (stat: BigIntStats): Kind | undefined => {
  if (stat.isFile()) return 'file'
  if (stat.isDirectory()) return 'directory'
  if (stat.isSocket()) return 'socket'
  // A whiteout, by the documentation of overlayfs.
  return stat.isCharacterDevice() && stat.rdev === 0n ? 'removed' : undefined
}

const entryOf = (stat: BigIntStats, content: SparseContent | undefined): Entry => ({
  kind: kindOf(stat)!,
  inode: stat.ino,
  content,
  mtimeNs: stat.mtimeNs,
  ...ownerOf(stat),
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
    if (entry.kind === 'removed') {
      if (found?.kind !== 'removed') remove(full, found)
      continue
    }
    if (found && found.kind !== entry.kind && !(entry.kind === 'file' && found.kind === 'removed'))
      throw new CannotRewind(`${path} has replaced something of another kind`)
    if (entry.kind === 'directory') mkdirSync(full, { recursive: true })
    else if (entry.content === undefined) requireSame(path, entry, found)
    else if (found?.content === undefined || !isEqualContent(found.content, entry.content)) write(full, entry.content)
    giveOwner(full, entry, found?.kind === 'removed' ? undefined : found)
  }
  for (const [path, names] of order) putInOrder(() => listed(upper, path, names), join(merged, path), names)
  // Making something in a directory changes its time.
  for (const [path, { kind, mtimeNs }] of [...before].reverse())
    if (kind !== 'removed') setTime(join(merged, path), mtimeNs)
}

/**
 * The given names that a directory lists, in the order of the directory. It may also list others that are below and
 * were only changed.
 */
const listed = (upper: string, path: string, names: readonly string[]): string[] => {
  const known = new Set(names)
  return listingOf(join(upper, path)).filter(name => known.has(name))
}

/** @throws CannotRewind */
const requireSame = (path: string, before: Entry, now: Entry | undefined): void => {
  if (now?.inode !== before.inode) throw new CannotRewind(`${path}, a socket, was removed`)
}

/** A file that is also below was only changed. Removing it would hide the one below. */
const forget = (path: string, lower: string, now: Entry): void => {
  const below = lstatSync(lower, { throwIfNoEntry: false, bigint: true })
  if (below === undefined) {
    if (now.kind !== 'removed') remove(path, now)
    return
  }
  const kind = kindOf(below)
  if (now.kind === 'removed' && kind !== 'file') throw new CannotRewind(`${path}, which is no file, was removed`)
  if (now.kind === 'socket' || (now.kind !== 'removed' && kind !== now.kind))
    throw new CannotRewind(`${path} has replaced something of another kind`)
  if (kind === 'file') copyFileSync(lower, path)
  giveOwner(path, entryOf(below, undefined), now.kind === 'removed' ? undefined : now)
  setTime(path, below.mtimeNs)
}

const remove = (path: string, now: Entry | undefined): void => {
  if (now?.kind === 'directory') rmdirSync(path)
  else unlinkSync(path)
}

/** Writes to the existing file, if there is one, because it may be open or mapped. */
const write = (path: string, content: SparseContent): void => {
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined
  withFile(path, isThere ? 'r+' : 'wx+', fd => putBack(fd, content))
}
