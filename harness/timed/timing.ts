import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import type { ForwardingPlan } from '../../proxy/forwarding/plan.ts'
import type { ChurnEvent } from '../../topologies/churn/plan.ts'
import type { ClockSetting } from '../config.ts'
import type { LinkChange, LinkPlan } from './links.ts'

/** How time passes: `virtual`, it jumps to what is due next; `real`, it waits until that is due. */
export type Pace = 'virtual' | 'real'

/** Why things happen when they do, in a system that time runs through: plain data, which a trace keeps. */
export interface Timing {
  readonly pace: Pace
  /** Nodes that are there from the start. */
  readonly initial: readonly string[]
  /** What is to happen to the system, in the order of time. */
  readonly events: readonly TimedAction[]
  /** The pipes between nodes, which are numbered in the order of the configuration. */
  readonly wiring: Omit<ForwardingPlan, 'addresses'> & { readonly links?: LinkPlan }
  /** Milliseconds from the end of a client's call to its next, by its name. */
  readonly pausesMs: Readonly<Record<string, number>>
  /** Nodes whose clocks go otherwise. */
  readonly clocks: Readonly<Record<string, ClockSetting>>
  /** What was done to it from outside while it ran, in the order of time: of a run that is executed again. */
  readonly inputs: readonly TimedAction[]
  /** When each step was executed, the start first: of a run that is executed again. Absent: each when it is due. */
  readonly timesMs?: readonly number[] | undefined
  /** Whether what time does not do may be done besides, within the budgets: of a search that began in a run. */
  readonly isSearched?: boolean
}

/** Something that happens to the system at a time: an event of churn, or what somebody asked for. */
export type TimedAction = ChurnEvent | ({ readonly atMs: number } & Change)

export type LinkAction = Extract<TimedAction, { readonly does: 'link' }>

/** What is planned, in the order of time; at one time who comes and goes is first. */
export const inOrder = (...plans: readonly (readonly TimedAction[])[]): TimedAction[] =>
  plans.flat().sort((one, other) => one.atMs - other.atMs)

/** What can be done to a running system beside churn. */
export type Change =
  | { readonly does: 'restart'; readonly node: string }
  /** TCP connections between two nodes are reset. */
  | { readonly does: 'reset'; readonly node: string; readonly peer: string }
  /** A program is run in it, as by a client. */
  | { readonly does: 'exec'; readonly node: string; readonly command: readonly string[] }
  | { readonly does: 'set'; readonly ways: readonly WaySetting[] }
  | ({ readonly does: 'link' } & LinkChange)
  | Visit

/** What a real client does through a published port. Its connections are numbered from 1, in the order in which they come. */
export type Visit =
  | { readonly does: 'connect'; readonly visitor: number; readonly node: string; readonly port: number }
  /** Bytes in base64. */
  | { readonly does: 'send'; readonly visitor: number; readonly node: string; readonly data: string }
  | { readonly does: 'end'; readonly visitor: number; readonly node: string; readonly how: 'end' | 'reset' }

/** What becomes of packets from one node to another, on top of the pipes between them. */
export interface WaySetting {
  readonly from: string
  readonly to: string
  /** Nothing passes. */
  readonly isCut?: boolean
  /** One more pipe; `null` for none. */
  readonly pipe?: PipeSettings | null
}
