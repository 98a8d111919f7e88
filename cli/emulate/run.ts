import type { ClientCall, ExecResult } from '../../harness/config.ts'
import type { Happening } from '../../harness/timed/action.ts'
import type { Look } from '../../harness/timed/look.ts'
import type { Measurements } from '../../harness/timed/measurements.ts'
import type { WaySetting } from '../../harness/timed/timing.ts'
import type { Counts } from '../../proxy/forwarding/counters.ts'

/** A system that runs over an emulated internet, whichever the pace. */
export interface Run {
  /** Milliseconds of its own time since it began. */
  readonly elapsedMs: number
  readonly nodes: readonly RunningNode[]
  /** What was laid on ways and not taken away. */
  readonly ways: readonly WaySetting[]
  /** Of a partition; null where there is none. */
  readonly groups: readonly (readonly string[])[] | null
  readonly measurements: Measurements
  /** All calls of clients, and those that are over. */
  readonly calls: readonly Pick<ClientCall, 'client'>[]
  readonly timed: readonly TimedCall[]
  readonly counts: Counts
  /** @throws UsageError for a node that is not there */
  act(action: Happening): Promise<void>
  /**
   * Runs a program in a node.
   *
   * @throws UsageError for a node that is not there, or is down, and a program that does not end
   */
  exec(node: string, command: readonly string[]): Promise<ExecResult>
}

export interface RunningNode {
  readonly name: string
  readonly address: string
  readonly isAlive: boolean
  /** Whether its links were taken away. */
  readonly isCut: boolean
}

/** A call that is over. */
export interface TimedCall {
  readonly client: string
  readonly tookMs: number
  readonly isOk: boolean
}

/** Who wants to know how far it is. */
export interface Progress {
  start(started: number, all: number): void
  update(look: Look, atMs: number, values: Readonly<Record<string, boolean>>): void
}
