import type { ForwardedCounts } from '../../proxy/forwarding/counters.ts'
import type { ChurnEvent } from '../../topologies/churn/plan.ts'
import type { ClientCall, ExecResult } from '../config/config.ts'
import type { Terminal, TerminalKind } from '../native/terminal.ts'
import type { SteeringCounts } from '../steering/counts.ts'
import type { PredictionCounts } from '../steering/predictor.ts'
import type { LinkChange } from '../timed/links.ts'
import type { Look } from '../timed/look.ts'
import type { Measurements } from '../timed/measurements.ts'
import type { Happening, WaySetting } from '../timed/timing.ts'

/** A system that runs over an emulated internet, at any pace. */
export interface Run {
  /** Milliseconds of the run's own time since it began. */
  readonly elapsedMs: number
  readonly nodes: readonly RunningNode[]
  /** Settings on links that were set and not cleared. */
  readonly ways: readonly WaySetting[]
  /** How links of the topology differ from what they were at the start. */
  readonly links: readonly LinkChange[]
  /** Groups of the partition; null if there is none. */
  readonly groups: readonly (readonly string[])[] | null
  readonly measurements: Measurements
  /** All client calls, and those that have ended. */
  readonly calls: readonly Pick<ClientCall, 'client'>[]
  readonly timed: readonly EndedCall[]
  readonly counts: ForwardedCounts
  /** Undefined if the run is not steered. */
  readonly steering?: SteeringCounts | undefined
  /** Undefined if nothing is predicted. `behindMs`: by how much the predictor is behind the run. */
  readonly prediction?: (PredictionCounts & { readonly behindMs: number }) | undefined
  /** What is planned while it runs and has not happened, besides the plan that it began with. */
  readonly planned: readonly ChurnEvent[]
  /** @throws UsageError for an unknown node */
  act(happening: Happening): Promise<void>
  /**
   * Replaces what is planned.
   *
   * @param events in order of time
   *
   * @throws UsageError for an event in the past, and as `act`
   */
  plan(events: readonly ChurnEvent[]): void
  /**
   * Adds a node that is like another one, and starts it.
   *
   * @throws UsageError for a name that is no host name or taken, an unknown node, and where a run must be repeatable
   */
  add(name: string, like: string): Promise<void>
  /**
   * Runs a program in a node.
   *
   * @throws UsageError for an unknown node, one that is down, or a program that does not end
   */
  exec(node: string, command: readonly string[]): Promise<ExecResult>
  /**
   * Starts a program in a node with a terminal of its own.
   *
   * @throws UsageError as `exec`, and where programs run within steps
   */
  terminal(node: string, command: readonly string[], asked: TerminalKind): Terminal
}

export interface RunningNode {
  readonly name: string
  readonly address: string
  readonly isAlive: boolean
  /** Whether its links were taken away. */
  readonly isCut: boolean
}

/** A call that has ended. */
export interface EndedCall {
  readonly client: string
  readonly beganMs: number
  readonly tookMs: number
  readonly isOk: boolean
}

/** Callbacks for progress. */
export interface RunProgress {
  start(started: number, all: number): void
  update(look: Look, atMs: number, values: Readonly<Record<string, boolean>>): void
}
