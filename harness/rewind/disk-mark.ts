import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statfsSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Overlay } from '../hold/mounts.ts'
import { treeOf } from '../tree.ts'
import { CannotRewind } from './error.ts'

const bytesMax = 16 << 20

/** What a node has written to its disk: content by path, undefined for a directory. */
type Content = Map<string, Buffer | undefined>

/** The private layers of a node's file system. They are brought back through the node's own view, as the kernel demands. */
export class DiskMark {
  readonly #layers: readonly Overlay[]
  readonly #lowerOf: (directory: string) => string
  readonly #inMemory: readonly string[]
  readonly #contents: readonly Content[]

  /**
   * @param lowerOf what is below a layer
   * @param inMemory directories of the node that are empty at each start
   * @throws CannotRewind
   */
  constructor(layers: readonly Overlay[], lowerOf: (directory: string) => string, inMemory: readonly string[]) {
    this.#layers = layers
    this.#lowerOf = lowerOf
    this.#inMemory = inMemory
    this.#contents = layers.map(({ upper }) => contentOf(upper))
  }

  /** @param root of the node's file system, as this process sees it. @throws CannotRewind */
  rewind(root: string): void {
    for (const directory of this.#inMemory)
      if (readdirSync(join(root, directory)).length > 0) throw new CannotRewind(`it has files in ${directory}`)
    for (const [index, { directory, upper }] of this.#layers.entries()) {
      const merged = join(root, directory)
      // Whatever happens, nothing but a private layer is ever written to.
      if (statfsSync(merged).type !== overlayFileSystem) throw new CannotRewind(`${directory} has no private layer`)
      rewindLayer({ merged, lower: this.#lowerOf(directory) }, this.#contents[index]!, contentOf(upper))
    }
  }
}

/** OVERLAYFS_SUPER_MAGIC */
const overlayFileSystem = 0x794c_7630

const contentOf = (upper: string): Content => {
  const content: Content = new Map()
  let bytes = 0
  for (const { path, entry } of treeOf(upper)) {
    if (entry.isDirectory()) {
      content.set(path, undefined)
      continue
    }
    if (!entry.isFile()) throw new CannotRewind(`${path} is neither a file nor a directory`)
    bytes += lstatSync(join(upper, path)).size
    if (bytes > bytesMax) throw new CannotRewind(`its files have more than ${bytesMax >> 20} MB`)
    content.set(path, readFileSync(join(upper, path)))
  }
  return content
}

interface View {
  /** The directory as the node sees it. */
  readonly merged: string
  /** What is below its private layer. */
  readonly lower: string
}

const rewindLayer = ({ merged, lower }: View, before: Content, now: Content): void => {
  // Deeper paths come later: what was made is removed from its end.
  for (const [path, bytes] of [...now].reverse())
    if (!before.has(path)) forget(join(merged, path), join(lower, path), bytes === undefined)
  for (const [path, bytes] of before) {
    if (now.has(path) && isSame(bytes, now.get(path))) continue
    if (bytes === undefined) mkdirSync(join(merged, path), { recursive: true })
    else write(join(merged, path), bytes)
  }
}

/** What is also below was only changed, and may not go: that would hide it. */
const forget = (path: string, lower: string, isDirectory: boolean): void => {
  const isChanged = existsSync(lower)
  if (isDirectory && !isChanged) rmdirSync(path)
  if (isDirectory) return
  if (isChanged) write(path, readFileSync(lower))
  else unlinkSync(path)
}

const isSame = (one: Buffer | undefined, other: Buffer | undefined): boolean =>
  one === undefined || other === undefined ? one === other : one.equals(other)

/** Into the same file, where there is one: it may be open. */
const write = (path: string, bytes: Buffer): void => {
  mkdirSync(dirname(path), { recursive: true })
  if (statSync(path, { throwIfNoEntry: false })) {
    truncateSync(path)
    writeFileSync(path, bytes, { flag: 'r+' })
  } else writeFileSync(path, bytes)
}
