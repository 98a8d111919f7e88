import type { ResolvedNode } from '../config.ts'
import type { Disk } from '../files/disk.ts'
import type { Output } from '../files/output.ts'
import type { SharedFiles } from '../files/shared-files.ts'
import type { Launched } from '../hold/launch.ts'
import type { LocalMountPlan } from '../hold/machine-files.ts'
import type { Uplink } from './uplink.ts'

/** How the lives of one node come about: as processes of this machine, or in containers. */
export interface Runtime {
  /** Where the node's relative paths begin. */
  readonly workingDirectory: string
  /** The directories that its disk covers. */
  readonly writable: readonly string[]
  /** Readies what a place takes that cannot be had at once. To be awaited before each `place`. */
  prepare(): Promise<void>
  /** The node's kernel is there from now on, its program not yet. */
  place(): Place
  /** Ends what is ready and was not used; what comes later is made anew. */
  close(): void
}

/** Where one life of a node is lived. */
export interface Place {
  readonly uplink: Uplink
  readonly stdout: Output
  readonly stderr: Output
  /**
   * Gives the program its disk and what every node is shown; it then waits to be released.
   *
   * @param random names the random bytes that it reads
   */
  launch(disk: Disk, random: string): Launched
  /** Of its program; known once it is launched. */
  readonly environment: Readonly<Record<string, string>>
  /** Directories that are empty at each start, in memory. */
  readonly inMemory: readonly string[]
  /** What is below the private layer of a directory, as a path of this process. */
  lowerOf(directory: string): string
  /** What the program sees with a disk; undefined where its processes cannot be made again from files. */
  mounts: ((disk: Disk, random: string) => LocalMountPlan) | undefined
  /** Lets go of all. No process is left in it. */
  leave(): void
}

/** Which node is to be run, and with what. */
export interface NodePlan {
  /** With its placeholders replaced. */
  readonly definition: ResolvedNode
  readonly address: string
  /** For what its lives write. */
  readonly directory: string
  readonly files: SharedFiles
}

/** Runs images: made, and closed, by whoever makes the cluster. */
export interface Engine {
  runtime(plan: NodePlan): Runtime
}
