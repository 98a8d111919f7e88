import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import type { ForwardingPlan } from '../../proxy/forwarding/plan.ts'
import type { ChurnEvent } from '../../topologies/churn/plan.ts'
import type { ClockSetting } from '../config.ts'
import type { LinkChange, LinkPlan } from './links.ts'

/** How time passes: `virtual` jumps to the next due event; `real` waits for it. */
export type Pace = 'virtual' | 'real'

/** Why things happen when they do in a timed system: plain data, kept in traces. */
export interface Timing {
  readonly pace: Pace
  /** Nodes present from the start. */
  readonly initial: readonly string[]
  /** Planned events, in order of time. */
  readonly events: readonly TimedAction[]
  /** The pipes between nodes. Nodes are numbered in the order of the configuration. */
  readonly wiring: Omit<ForwardingPlan, 'addresses'> & { readonly links?: LinkPlan }
  /** Milliseconds from the end of a client's call to its next, by client name. */
  readonly pausesMs: Readonly<Record<string, number>>
  /** Settings of clocks that differ from the default, by node. */
  readonly clocks: Readonly<Record<string, ClockSetting>>
  /** In a replay of a run: what was done to it from outside, in order of time. */
  readonly inputs: readonly TimedAction[]
  /** In a replay of a run: when each step was executed, the start first. Absent: each step when it is due. */
  readonly timesMs?: readonly number[] | undefined
  /** In a search that begins in a run: whether events outside the timing may also happen, within the budgets. */
  readonly isSearched?: boolean
}

/** Something that happens to the system at a time: an event of churn, or a request. */
export type TimedAction = ChurnEvent | ({ readonly atMs: number } & Change)

export type LinkAction = Extract<TimedAction, { readonly does: 'link' }>

/** Merges plans in order of time. At equal times, earlier plans come first. */
export const inOrder = (...plans: readonly (readonly TimedAction[])[]): TimedAction[] =>
  plans.flat().sort((one, other) => one.atMs - other.atMs)

/** What can be done to a running system besides churn. */
export type Change =
  | { readonly does: 'restart'; readonly node: string }
  /** TCP connections between two nodes are reset. */
  | { readonly does: 'reset'; readonly node: string; readonly peer: string }
  /** A program is run in the node, like a client. */
  | { readonly does: 'exec'; readonly node: string; readonly command: readonly string[] }
  | { readonly does: 'set'; readonly ways: readonly WaySetting[] }
  | ({ readonly does: 'link' } & LinkChange)
  | Visit
  | Steer

/** What steering does in place of something that would lead to a violation: only what could have happened anyway. */
export type Steer =
  /** A datagram is lost, or the connection of a message is reset in place of its arrival. The message is its label. */
  | { readonly does: 'steer'; readonly how: 'lose' | 'break'; readonly node: string; readonly message: string }
  /** A node stands still, with its clock. */
  | { readonly does: 'steer'; readonly how: 'pause'; readonly node: string; readonly forMs: number }
  /** A client calls later. */
  | { readonly does: 'steer'; readonly how: 'wait'; readonly client: string; readonly forMs: number }

/** What a real client does through a published port. Its connections are numbered from 1, in order of arrival. */
export type Visit =
  | { readonly does: 'connect'; readonly visitor: number; readonly node: string; readonly port: number }
  /** Bytes in base64. */
  | { readonly does: 'send'; readonly visitor: number; readonly node: string; readonly data: string }
  | { readonly does: 'end'; readonly visitor: number; readonly node: string; readonly how: 'end' | 'reset' }

/** What happens to packets from one node to another, in addition to the pipes between them. */
export interface WaySetting {
  readonly from: string
  readonly to: string
  /** Nothing passes. */
  readonly isCut?: boolean
  /** One additional pipe; `null` for none. */
  readonly pipe?: PipeSettings | null
}
