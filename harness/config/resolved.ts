import type { Property } from '../../checker/property.ts'
import type { Dissector } from '../../proxy/dissector.ts'
import type { Client, FaultKind, GlobalState, Observer, Weights } from './definition.ts'

/** A definition that was found right, with nothing left to default. */
export interface ResolvedSystem {
  readonly name: string
  /** In the order of the definition. */
  readonly nodes: readonly ResolvedNode[]
  readonly observe: Observer | undefined
  readonly clients: readonly ResolvedClient[]
  readonly properties: Readonly<Record<string, Property<GlobalState>>>
  readonly faults: Readonly<Record<FaultKind, number>>
  readonly overlap: number
  /** How far the clocks of two nodes may be apart: 0 for one clock, Infinity for independent ones. */
  readonly clockSkewMsMax: number
  readonly weights: Weights
  readonly dissectorOf: (port: number) => Dissector | undefined
  readonly fingerprint: 'observed' | 'history' | 'none'
  /** CPU time of one step. */
  readonly stepCpuMsMax: number
}

export interface ResolvedNode {
  readonly name: string
  /** With placeholders until `withAddresses`. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly image: string | undefined
  /** Absolute; `undefined` in an image that has its own. */
  readonly cwd: string | undefined
  readonly disk: 'kept' | 'lost'
  readonly listens: readonly number[]
}

export interface ResolvedClient {
  readonly name: string
  readonly run: Client
  /** In one execution. */
  readonly times: number
}
