import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Checkpoint } from '../../checker/system/system.ts'
import { SystemError } from '../../linux/libc.ts'
import { CannotMark } from '../../proxy/connection.ts'
import { CannotCheckpoint } from '../checkpoint/error.ts'
import { removeRunDirectory } from '../files/run-directory.ts'
import { treeOf } from '../files/tree.ts'
import type { SavedNode } from '../node/states.ts'
import type { ExecutionMark, WayThere } from './execution.ts'

/** A cluster at one quiescent instant. */
export interface SavedCluster {
  /** Directory of the nodes' files. */
  readonly directory: string
  /** Size of these files. */
  readonly bytes: number
  readonly nodes: readonly SavedNode[]
  readonly execution: ExecutionMark
  /** Outline by which the state is recognised. */
  readonly outline: string
}

/** A checkpoint to which this cluster, or another one of the same system, can return any number of times. */
export class ClusterCheckpoint implements Checkpoint {
  readonly way: WayThere
  /** Why it is only a schedule; undefined if it has processes. */
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

  /** Size of its files. They take memory if the machine's temporary files are in memory. */
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

/** Why something could not be saved or restored, in one line. Other errors are thrown. */
export const checkpointReasonOf = (error: unknown): string => {
  if (error instanceof CannotCheckpoint || error instanceof CannotMark || error instanceof SystemError)
    return error.message
  // Errors of Node's own calls, such as a full disk or a missing directory.
  if (error instanceof Error && 'syscall' in error) return error.message
  throw error
}
