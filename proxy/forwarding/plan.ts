import type { PipeSettings } from './pipe.ts'

/** A network of hosts as its router has it: plain data, which can be handed to another thread. Hosts are numbered from 0. */
export interface ForwardingPlan {
  /** Of the hosts, by their numbers. */
  readonly addresses: readonly string[]
  readonly pipes: readonly PipeSettings[]
  readonly routes: readonly Route[]
  /** Of all that is drawn. */
  readonly seed: number
}

/** The pipes that packets from one host to another pass, in order; several routes may share one. */
export interface Route {
  readonly from: number
  readonly to: number
  readonly pipes: readonly number[]
}

/** What is laid upon the way from one host to another, on top of its pipes. */
export interface WayChange {
  readonly from: number
  readonly to: number
  /** Nothing passes. */
  readonly isCut?: boolean
  /** One more pipe, before the others; `null` for none. */
  readonly extra?: PipeSettings | null
}
