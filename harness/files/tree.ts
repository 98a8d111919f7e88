import { type Dirent, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Something in a directory, at any depth. */
export interface TreeEntry {
  /** Path relative to the directory. */
  readonly path: string
  readonly entry: Dirent
}

/** Everything in a directory, with each directory before its content. */
export const treeOf = (directory: string): TreeEntry[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .map(entry => ({ entry, path: relative(directory, join(entry.parentPath, entry.name)) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
