import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Checkpoint } from '../../checker/system.ts'
import { CannotMark } from '../../proxy/connection.ts'
import { SystemError } from '../../proxy/libc.ts'
import { CannotCheckpoint } from '../checkpoint/error.ts'
import { removeRunDirectory } from '../files/run-directory.ts'
import { treeOf } from '../files/tree.ts'
import type { SavedNode } from '../node/node.ts'
import type { ExecutionMark, WayThere } from './execution.ts'

/** A cluster at one quiescent instant. */
export interface SavedCluster {
  /** Of the nodes' files. */
  readonly directory: string
  /** Of those files. */
  readonly bytes: number
  readonly nodes: readonly SavedNode[]
  readonly execution: ExecutionMark
  /** By which it is known again. */
  readonly outline: string
}

/** Where a cluster, or another of the same system, can go back to any number of times. */
export class ClusterCheckpoint implements Checkpoint {
  readonly way: WayThere
  /** Why it is nothing but a way there; undefined where it is more. */
  readonly lacking: string | undefined
  #saved: SavedCluster | undefined

  constructor(way: WayThere, saved: SavedCluster | undefined, lacking: string | undefined) {
    this.way = way
    this.lacking = lacking
    this.#saved = saved
  }

  get saved(): SavedCluster | undefined {
    return this.#saved
  }

  /** Of its files: of memory, where the machine has its temporary files there. */
  get bytes(): number {
    return this.#saved?.bytes ?? 0
  }

  async discard(): Promise<void> {
    if (this.#saved) removeRunDirectory(this.#saved.directory)
    this.#saved = undefined
  }
}

/** Size of all files in a directory, at any depth. */
export const bytesIn = (directory: string): number =>
  treeOf(directory).reduce(
    (sum, { path, entry }) => sum + (entry.isFile() ? statSync(join(directory, path)).size : 0),
    0,
  )

/** Why something could not be saved or made again, in one line; any other error is thrown. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof CannotCheckpoint || error instanceof CannotMark || error instanceof SystemError)
    return error.message
  // Of Node's own calls: a disk that is full, a directory that is gone.
  if (error instanceof Error && 'syscall' in error) return error.message
  throw error
}
