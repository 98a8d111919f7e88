import type { PipeSettings } from './pipe.ts'

/**
 * A network of hosts as its router sees it. It is plain data, to be passed to another thread. Hosts are numbered from
 * 0.
 */
export interface ForwardingPlan {
  /** Addresses of the hosts, by number. The last may be those of hosts that come later. */
  readonly addresses: readonly string[]
  readonly pipes: readonly PipeSettings[]
  /** Two hosts without a route are adjacent: nothing is between them. */
  readonly routes: readonly Route[]
  /** By route: the routers between its pipes. Absent if packets pass none that would show. */
  readonly hops?: readonly (readonly Hop[])[]
  /** Seed of all random numbers. */
  readonly seed: number
}

/** The pipes that packets from one host to another pass, in order. Several routes may share a pipe. */
export interface Route {
  readonly from: number
  readonly to: number
  readonly pipes: readonly number[]
}

/** A router behind a pipe of a route. */
export interface Hop {
  /** From which it answers. */
  readonly address: string
  /** The pipe from here to the hop before, or to the sender; absent if nothing passes that way. */
  readonly back?: number
}

/** A change of the direction from one host to another, on top of its pipes. */
export interface HostWayChange {
  readonly from: number
  readonly to: number
  /** Whether nothing passes. */
  readonly isCut?: boolean
  /** A pipe that precedes the others; `null` removes it. */
  readonly extra?: PipeSettings | null
}

/** A pipe, by its number, that does something else to packets from now on. */
export interface PipeChange {
  readonly pipe: number
  readonly settings: PipeSettings
}
