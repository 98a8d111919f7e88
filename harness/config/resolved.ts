import type { Property } from '../../checker/property.ts'
import type { Dissector } from '../../proxy/dissector.ts'
import type { Client, FaultKind, GlobalState, Goal, Observer, Weights } from './definition.ts'
import type { CheckedEmulation } from './schema.ts'

/** A definition that was found right, with nothing left to default. */
export interface ResolvedSystem {
  readonly name: string
  /** In the order of the definition. */
  readonly nodes: readonly ResolvedNode[]
  readonly observe: Observer | undefined
  readonly clients: readonly ResolvedClient[]
  readonly properties: Readonly<Record<string, Property<GlobalState>>>
  readonly goal: Goal | undefined
  readonly faults: Readonly<Record<FaultKind, number>>
  /** The nodes that they befall; all where undefined. */
  readonly faultsOf: Readonly<Record<FaultKind, readonly string[] | undefined>>
  /** How long a cut of the network lasts at least, by the clock of each node that waits for something. */
  readonly cutMsMin: number
  readonly overlap: number
  /** How far the clocks of two nodes may be apart: 0 for one clock, Infinity for independent ones. */
  readonly clockSkewMsMax: number
  /** How long a message may be on its way, by the clock of any node. */
  readonly delayMsMax: number
  readonly weights: Weights
  readonly dissectorOf: (port: number) => Dissector | undefined
  /** What a node sends at once, and no dissector cuts, is several messages where it is longer. */
  readonly messageBytesMax: number
  readonly fingerprint: 'observed' | 'history' | 'none'
  /** CPU time of one step. */
  readonly stepCpuMsMax: number
  /** Ports of this machine's loopback, each with the port of a node that it leads to. */
  readonly publish: readonly { readonly port: number; readonly node: string; readonly nodePort: number }[]
  /** How it runs over an emulated internet; times in milliseconds, paths as they stand in the configuration. */
  readonly emulation: CheckedEmulation
  /** What of a file of nodes has another meaning here, or none: a line each. */
  readonly notes: readonly string[]
}

export interface ResolvedNode {
  readonly name: string
  /** With placeholders until `withAddresses`. Empty for an image's own. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly image: string | undefined
  /** There where an image is. */
  readonly container: ResolvedContainer | undefined
  /** Absolute; `undefined` in an image that has its own. */
  readonly cwd: string | undefined
  readonly disk: 'kept' | 'lost'
  /** What it means that its process ends by itself. */
  readonly exits: 'crash' | 'allowed' | 'restart'
  /** Absolute, without links. */
  readonly write: readonly string[]
  readonly listens: readonly number[]
  readonly healthy: readonly string[] | undefined
  readonly aliases: readonly string[]
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
}

export interface Volume {
  /** Absolute; undefined for one that is empty, or has what the image has there. */
  readonly source: string | undefined
  readonly path: string
  readonly isReadOnly: boolean
}

export interface ResolvedClient {
  readonly name: string
  readonly run: Client
  /** In one execution. */
  readonly times: number
}
