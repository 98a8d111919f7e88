import type { Message } from '../../../proxy/message.ts'
import type { Network } from '../../../proxy/network.ts'
import type { FaultKind, ResolvedSystem } from '../../config/config.ts'
import type { Node } from '../../node/node.ts'
import type { Time } from '../../timed/time.ts'
import type { TimedHappening } from '../../timed/timing.ts'
import type { ClockReadings, TimesInFlight } from './delays.ts'
import type { Healthy } from './healthy.ts'

/** Everything on which the present choices depend. */
export interface Moment {
  readonly system: ResolvedSystem
  readonly nodes: readonly Node[]
  readonly network: Network
  /** Messages that may be delivered now. */
  readonly deliverable: readonly Message[]
  /** What is left of each budget, including `overlap` and `divide`. */
  readonly budget: ReadonlyMap<string, number>
  /** How often each client may still call. */
  readonly calls: ReadonlyMap<string, number>
  /** The clocks when the network was cut; undefined if it is whole. */
  readonly cutAt: ClockReadings | undefined
  /**
   * Whether an input of a node is noticed by no other without a message. While a call is in progress that is not so: after an
   * answer, a client may do anything to any node. Nor is it where nodes share directories.
   */
  readonly areInputsLocal: boolean
  /** Clients that wait for an answer. */
  readonly callers: ReadonlySet<string>
  readonly delays: TimesInFlight
  /** Bound on a message's delay, ms of any node's clock; Infinity for none. */
  readonly delayMsMax: number
  /** Bound on how far clocks are apart, ms; Infinity for none. */
  readonly skewMsMax: number
  /** Present once the network is healthy. */
  readonly healthy: Healthy | undefined
  /** For a system with a common time. */
  readonly time: Time | undefined
  /** In a run of all nodes: its start, which says what is due next in it, and when clients begin, in milliseconds. */
  readonly start: { readonly due: readonly TimedHappening[]; readonly clientsFromMs: number } | undefined
}

/** Whether a kind of fault may affect one of these nodes. */
export const befalls = ({ system }: Moment, kind: FaultKind, ...nodes: readonly string[]): boolean =>
  system.faultsOf[kind]?.some(name => nodes.includes(name)) ?? true

export const left = ({ budget }: Moment, kind: string) => (budget.get(kind) ?? 0) > 0
