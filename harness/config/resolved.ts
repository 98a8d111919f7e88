import type { DiskFailure } from '../../checker/happening/disk-failures.ts'
import type { StrikeKind } from '../../checker/happening/strikes.ts'
import type { Property } from '../../checker/system/property.ts'
import type { Dissector } from '../../proxy/dissector.ts'
import type { Client, DiskModel, FaultKind, GlobalState, Goal, Observer, Weights } from './definition.ts'
import type { NodeLimits } from './limits.ts'
import type { CheckedEmulation } from './schema.ts'
import type { SharedPath } from './shared-paths.ts'

/** A valid definition with all defaults filled in. */
export interface ResolvedSystem {
  readonly name: string
  /** In the order of the definition. */
  readonly nodes: readonly ResolvedNode[]
  readonly observe: Observer | undefined
  /** Those of the nodes that are outside of the system. Properties find them by name alone. */
  readonly outside: readonly string[]
  /** Whether nodes trust the certificates of those outside. */
  readonly trustsOutside: boolean
  /** The nodes that each name may mean, the first at the start; names are in small letters. */
  readonly names: Readonly<Record<string, readonly string[]>>
  readonly clients: readonly ResolvedClient[]
  readonly properties: Readonly<Record<string, Property<GlobalState>>>
  /** What a check looks for first, one after the other. */
  readonly goals: readonly Goal[]
  readonly faults: Readonly<Record<FaultKind, number>>
  /** The nodes that may be affected; undefined for all. */
  readonly faultsOf: Readonly<Record<FaultKind, readonly string[] | undefined>>
  /** What disks promise of what was not synced; undefined if no power failure can come. */
  readonly diskModel: DiskModel | undefined
  /** Minimum duration of a cut, by the clock of each node that waits for something. */
  readonly cutMsMin: number
  /** What may strike nodes at their system calls: they stop there, also in a run in which no search has a budget. */
  readonly strikes: readonly StrikeKind[]
  /** What a search lets happen to disks. */
  readonly diskFailures: readonly DiskFailure['what'][]
  /** What resets befall; undefined for connections and nodes. */
  readonly resetsOnly: 'connections' | 'nodes' | undefined
  readonly overlap: number
  readonly divide: number
  /** Largest difference between two nodes' clocks: 0 for one clock, Infinity for independent ones. */
  readonly clockSkewMsMax: number
  /** What nodes' clocks show first, as an ISO date and time, if the configuration says it. */
  readonly clocksStart: string | undefined
  /** Longest time that a message may be in flight, by the clock of any node. */
  readonly delayMsMax: number
  /** What a connection holds in each direction between two kernels; Infinity for what a kernel would. */
  readonly bufferBytesMax: number
  readonly weights: Weights
  readonly dissectorOf: (port: number) => Dissector | undefined
  /** Longer data is split into several messages. */
  readonly messageBytesMax: number
  readonly fingerprint: 'observed' | 'history' | 'none'
  /** Limit on the CPU time of one step. */
  readonly stepCpuMsMax: number
  /** Ports on this machine's loopback, each with the node's port to which it leads. */
  readonly publish: readonly { readonly port: number; readonly node: string; readonly nodePort: number }[]
  /** How it runs over an emulated internet. Times are in milliseconds, paths are as in the configuration. */
  readonly emulation: CheckedEmulation
  /** Fields of a file of nodes that have another meaning here or none, one line each. */
  readonly notes: readonly string[]
}

export interface ResolvedNode {
  readonly name: string
  /** With placeholders until `withAddresses`. Empty for the image's own command. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly image: string | undefined
  /** Present if there is an image. */
  readonly container: ResolvedContainer | undefined
  /** Absolute; `undefined` for the image's own directory. */
  readonly cwd: string | undefined
  readonly disk: 'kept' | 'lost'
  /** What it means if its process ends by itself. */
  readonly exits: 'crash' | 'allowed' | 'restart' | 'completes'
  /** Absolute, without links. */
  readonly write: readonly string[]
  readonly listens: readonly number[]
  readonly healthy: readonly string[] | undefined
  /** Nodes that are ready before it is started. */
  readonly after: readonly string[]
  readonly aliases: readonly string[]
  readonly limits: NodeLimits
  readonly shared: readonly SharedPath[]
}

export interface ResolvedContainer {
  readonly entrypoint: readonly string[] | undefined
  readonly user: string | undefined
  readonly volumes: readonly Volume[]
  readonly tmpfs: readonly string[]
  readonly readOnly: boolean
  readonly memoryBytesMax: number | undefined
  readonly pidsMax: number | undefined
  readonly pull: 'never' | 'missing' | 'always'
  readonly build: Build | undefined
}

/** How `docker build` makes an image. */
export interface Build {
  /** Absolute. */
  readonly context: string
  /** Absolute. */
  readonly dockerfile: string
  readonly target: string | undefined
  readonly args: Readonly<Record<string, string>>
}

export interface Volume {
  /** Absolute; undefined for a volume that is empty or has the image's content. */
  readonly source: string | undefined
  readonly path: string
  readonly isReadOnly: boolean
}

export interface ResolvedClient {
  readonly name: string
  readonly run: Client
  /** How often in one execution. */
  readonly times: number
  /** If calls that failed do not count. */
  readonly until?: 'returned' | undefined
}
