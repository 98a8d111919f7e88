import type { AnyHappening } from '../../checker/happening/happenings.ts'
import type { WayChange } from '../../checker/happening/ways.ts'
import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import type { ForwardingPlan } from '../../proxy/forwarding/plan.ts'
import type { ClockSetting } from '../config/config.ts'
import type { LinkChange, LinkPlan } from './links.ts'

/** How time passes: `virtual` jumps to the next due event; `real` waits for it. */
export type Pace = 'virtual' | 'real'

/** Why things happen when they do in a timed system: plain data, kept in traces. */
export interface Timing {
  readonly pace: Pace
  /** Nodes present from the start. */
  readonly initial: readonly string[]
  /** Planned events, in order of time. */
  readonly events: readonly TimedHappening[]
  /**
   * Version of the model by which a node's own doing takes time. 1: a sender waits for room in its socket's buffer, and a program
   * that keeps reading its clock waits until it shows more. Absent in older traces: neither does.
   */
  readonly model?: 1
  /** The pipes between nodes. Nodes are numbered in the order of the configuration. */
  readonly wiring: Omit<ForwardingPlan, 'addresses'> & { readonly links?: LinkPlan }
  /** Milliseconds from the end of a client's call to its next, by client name. */
  readonly pausesMs: Readonly<Record<string, number>>
  /** Settings of clocks that differ from the default, by node. */
  readonly clocks: Readonly<Record<string, ClockSetting>>
  /** In a replay of a run: what was done to it from outside, in order of time. */
  readonly inputs: readonly TimedHappening[]
  /** In a replay of a run: when each step was executed, the start first. Absent: each step when it is due. */
  readonly timesMs?: readonly number[] | undefined
  /** In a search that begins in a run: whether events outside the timing may also happen, within the budgets. */
  readonly isSearched?: boolean
}

/** What an execution needs to know of a live run to repeat it. */
export interface RunSoFar {
  /** In order of time. */
  readonly requested: readonly TimedHappening[]
  /** When each step was executed, the start first. Absent: each step when it is due. */
  readonly timesMs?: readonly number[] | undefined
}

/** Something that happens to a running system: a row of `happenings`. */
export type Happening = AnyHappening<PipeSettings, LinkChange>

/** A happening with its time, in milliseconds of the run: an event of churn, or a request. */
export type TimedHappening = { readonly atMs: number } & Happening

export type TimedLinkChange = Extract<TimedHappening, { readonly does: 'link' }>

/** What steering does. */
export type Steer = Extract<Happening, { readonly does: 'steer' }>

/** What happens to packets from one node to another, in addition to the pipes between them. */
export type WaySetting = WayChange<PipeSettings>

/** Merges plans in order of time. At equal times, earlier plans come first. */
export const inOrder = (...plans: readonly (readonly TimedHappening[])[]): TimedHappening[] =>
  plans.flat().sort((one, other) => one.atMs - other.atMs)
