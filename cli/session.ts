import { dirname } from 'node:path'
import { Cluster } from '../harness/cluster.ts'
import { type ResolvedSystem, resolveSystem } from '../harness/config.ts'
import { type LoadedConfig, loadConfig } from './load-config.ts'
import { requireAbilities } from './machine.ts'

/** A configuration with its cluster, for as long as a command works on it. */
export interface Session {
  readonly config: LoadedConfig
  readonly system: ResolvedSystem
  readonly cluster: Cluster
  /** Aborted by Ctrl-C or a polite kill. */
  readonly signal: AbortSignal
}

/** Opens a session, does the work, and leaves nothing behind, whatever happens. */
export const inSession = async <Result>(
  file: string,
  seed: number,
  work: (session: Session) => Promise<Result>,
): Promise<Result> => {
  const config = await loadConfig(file)
  const system = resolveSystem(config.definition, { directory: dirname(config.path) })
  requireAbilities()
  const abort = new AbortController()
  const stop = () => abort.abort()
  process.on('SIGINT', stop).on('SIGTERM', stop)
  const cluster = new Cluster(system, { seed })
  try {
    return await work({ config, system, cluster, signal: abort.signal })
  } finally {
    cluster.close()
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}
