import type { SharedPlace } from '../../linux/mounts.ts'
import type { NetworkKind } from '../../linux/namespace.ts'
import type { ResolvedNode } from '../config/config.ts'
import type { NodeLimits } from '../config/limits.ts'
import type { Disk } from '../files/disk.ts'
import type { Output } from '../files/output.ts'
import type { SharedFiles } from '../files/shared-files.ts'
import type { Launched } from '../hold/start/launch.ts'
import type { LocalMountPlan } from '../hold/start/machine-files.ts'
import type { Uplink } from './uplink.ts'

/** How the lives of a node are made: as processes of this machine, or in containers. */
export interface Runtime {
  /** Where the node's relative paths begin. */
  readonly workingDirectory: string
  /** Directories that its disk covers. */
  readonly writable: readonly string[]
  /** Prepares what takes time for a place. Await it before each `place`. */
  prepare(): Promise<void>
  /** From now on, the node's kernel exists, its program not yet. */
  place(): Home
  /** Ends what was prepared and not used. */
  close(): void
}

/** Where one life of a node is lived. */
export interface Home {
  readonly uplink: Uplink
  readonly stdout: Output
  readonly stderr: Output
  /**
   * Gives the program its disk and the shown files. It then waits to be released.
   *
   * @param random names the random bytes that it reads
   */
  launch(disk: Disk, random: string): Launched
  /** Environment of its program; known once it is launched. */
  readonly environment: Readonly<Record<string, string>>
  readonly limits: NodeLimits
  /** Directories that are empty at each start, in memory. */
  readonly inMemory: readonly string[]
  /** What is below the private layer of a directory, as a path in this process. */
  lowerOf(directory: string): string
  /** The program's mounts with a disk; undefined if its processes cannot be restored from files. */
  mounts: ((disk: Disk, random: string) => LocalMountPlan) | undefined
  /** Frees everything. No process may be left in it. */
  leave(): void
}

/** Which node to run, and with what. */
export interface NodePlan {
  /** With its placeholders. */
  readonly asGiven: ResolvedNode
  /** With its placeholders replaced. */
  readonly definition: ResolvedNode
  readonly address: string
  /** For what its lives write. */
  readonly directory: string
  readonly files: SharedFiles
  readonly shared: readonly SharedPlace[]
  /** Whether its own doing takes time (`Timing.model`). */
  readonly isPaced: boolean
  /** How its kernel treats connections. */
  readonly network: NetworkKind
}

/** Runs images: made, and closed, by whoever makes the cluster. */
export interface Engine {
  runtime(plan: NodePlan): Runtime
}
