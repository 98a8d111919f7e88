import type { DockerEngine } from '../docker/engine.ts'
import { Cluster } from '../harness/cluster.ts'
import { type ResolvedSystem, resolveSystem } from '../harness/config.ts'
import { openEngine } from './engine.ts'
import { whileUninterrupted } from './interrupt.ts'
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
}

/** Opens a session, does the work, and leaves nothing behind, whatever happens. */
export const inSession = async <Result>(
  config: LoadedConfig,
  { seed = 1, signal, cpu }: SessionOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> => {
  const system = resolveSystem(config.definition, { directory: config.directory })
  requireAbilities()
  return whileUninterrupted(async interrupt => {
    let cluster: Cluster | undefined
    let engine: DockerEngine | undefined
    try {
      engine = await openEngine(system)
      cluster = new Cluster(system, { seed, cpu, engine })
      return await work({
        config,
        system,
        cluster,
        seed,
        signal: signal ? AbortSignal.any([signal, interrupt]) : interrupt,
      })
    } finally {
      cluster?.close()
      await engine?.close()
    }
  })
}
