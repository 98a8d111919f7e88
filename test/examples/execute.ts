import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { replay } from '../../checker/cells/replay.ts'
import { loadConfig } from '../../cli/config/load-config.ts'
import { Cluster } from '../../harness/cluster.ts'
import { resolveSystem } from '../../harness/config/config.ts'

/** The system of an example. @param config named from `examples/` */
export const systemOf = async (config: string) => {
  const path = fileURLToPath(new URL(`../../examples/${config}`, import.meta.url))
  const { definition, directory } = await loadConfig(path)
  return resolveSystem(definition, { directory })
}

/** Executes a schedule on the processes of an example. */
export const execute = async (config: string, schedule: readonly string[], seed = 0) => {
  const system = await systemOf(config)
  const cluster = new Cluster(system, { seed })
  onTestFinished(() => cluster.close())
  return { ...(await replay(cluster, system.properties, schedule)), state: cluster.state() }
}
