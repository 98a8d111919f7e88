import { type Dirent, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Something in a directory, at any depth. */
export interface TreeEntry {
  /** From the directory on. */
  readonly path: string
  readonly entry: Dirent
}

/** All that is in a directory, by path: what is in a directory comes after that. */
export const treeOf = (directory: string): TreeEntry[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .map(entry => ({ entry, path: relative(directory, join(entry.parentPath, entry.name)) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
