import type { DockerEngine } from '../../docker/engine.ts'
import { Cluster } from '../../harness/cluster.ts'
import { type ResolvedSystem, resolveSystem } from '../../harness/config/config.ts'
import { unlessInterrupted } from '../../harness/hold/turns/interruption.ts'
import { systemInTime } from '../../harness/timed/timed-system.ts'
import type { Timing } from '../../harness/timed/timing.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { amongGuests } from './among-guests.ts'
import { clocksStartFor } from './clocks-start.ts'
import { openEngine } from './engine.ts'
import { requireAbilities } from './machine.ts'

/** A configuration with its cluster, for the duration of a command. */
export interface Session {
  readonly config: LoadedConfig
  readonly system: ResolvedSystem
  readonly cluster: Cluster
  /** Seed of the search and of the nodes' random numbers. */
  readonly seed: number
  /** What the nodes' clocks show first, as an ISO date and time. */
  readonly clocksStart: string
  /** Aborted by a signal to this process, or by the caller. */
  readonly signal: AbortSignal
}

export interface SessionOptions {
  /** 1 by default. */
  readonly seed?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** The CPU for the nodes; by default the one on which this process now runs. */
  readonly cpu?: number | undefined
  /** Whether processes are rewound instead of started again; true by default. */
  readonly rewind?: boolean | undefined
  /** Whether a thread may compute longer before others get a turn; false by default. */
  readonly longTurns?: boolean | undefined
  /** What the nodes' clocks show first; by default as the configuration says, or else the next midnight. */
  readonly clocksStart?: string | undefined
  /** Makes time decide what happens. */
  readonly timing?: Timing | undefined
  /** Whether the machine is known to have what is needed; false by default. */
  readonly isAble?: boolean | undefined
}

/** Opens a session, does the work and cleans up in any case. */
export const inSession = async <Result>(
  config: LoadedConfig,
  { seed = 1, signal, cpu, rewind, longTurns, timing, isAble = false, ...given }: SessionOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> => {
  const resolved = resolveSystem(config.definition, { directory: config.directory })
  const system = systemInTime(resolved, timing)
  const clocksStart = given.clocksStart ?? clocksStartFor(system)
  if (!isAble) requireAbilities()
  return amongGuests(async guarded => {
    let cluster: Cluster | undefined
    let engine: DockerEngine | undefined
    try {
      engine = await unlessInterrupted(openEngine(system))
      cluster = new Cluster(system, { seed, cpu, engine, rewind, longTurns, timing, clocksStart })
      return await work({
        config,
        system,
        cluster,
        seed,
        clocksStart,
        signal: signal ? AbortSignal.any([signal, guarded]) : guarded,
      })
    } finally {
      cluster?.close()
      await engine?.close()
    }
  })
}
