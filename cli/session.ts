import type { DockerEngine } from '../docker/engine.ts'
import { Cluster } from '../harness/cluster.ts'
import { type ResolvedSystem, resolveSystem } from '../harness/config.ts'
import { unlessInterrupted } from '../harness/hold/interruption.ts'
import { inTime } from '../harness/timed/timed-system.ts'
import type { Timing } from '../harness/timed/timing.ts'
import { amongGuests } from './among-guests.ts'
import { openEngine } from './engine.ts'
import type { LoadedConfig } from './load-config.ts'
import { requireAbilities } from './machine.ts'

/** A configuration with its cluster, for as long as a command works on it. */
export interface Session {
  readonly config: LoadedConfig
  readonly system: ResolvedSystem
  readonly cluster: Cluster
  /** Of the search and of the nodes' randomness. */
  readonly seed: number
  /** Aborted by a signal that asks for the end, or by the caller. */
  readonly signal: AbortSignal
}

export interface SessionOptions {
  /** 1 by default. */
  readonly seed?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** The CPU that nodes are held on; the one that this process runs on now, by default. */
  readonly cpu?: number | undefined
  /** Whether processes are brought back instead of started anew; true by default. */
  readonly rewind?: boolean | undefined
  /** Whether a thread computes for longer before others have their turn; false by default. */
  readonly longTurns?: boolean | undefined
  /** Lets time run through the system. */
  readonly timing?: Timing | undefined
}

/** Opens a session, does the work, and leaves nothing behind, whatever happens. */
export const inSession = async <Result>(
  config: LoadedConfig,
  { seed = 1, signal, cpu, rewind, longTurns, timing }: SessionOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> => {
  const resolved = resolveSystem(config.definition, { directory: config.directory })
  const system = inTime(resolved, timing)
  requireAbilities()
  return amongGuests(async guarded => {
    let cluster: Cluster | undefined
    let engine: DockerEngine | undefined
    try {
      engine = await unlessInterrupted(openEngine(system))
      cluster = new Cluster(system, { seed, cpu, engine, rewind, longTurns, timing })
      return await work({
        config,
        system,
        cluster,
        seed,
        signal: signal ? AbortSignal.any([signal, guarded]) : guarded,
      })
    } finally {
      cluster?.close()
      await engine?.close()
    }
  })
}
