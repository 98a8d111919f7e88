import { DockerEngine } from '../docker/engine.ts'
import { Cluster } from '../harness/cluster.ts'
import type { ResolvedSystem } from '../harness/config/config.ts'

/** A cluster of new processes, for as long as it is used. */
export const withCluster = async <Result>(
  system: ResolvedSystem,
  use: (cluster: Cluster) => Promise<Result>,
): Promise<Result> => {
  const engine = await DockerEngine.openFor(system)
  const cluster = new Cluster(system, { seed: 1, engine })
  try {
    return await use(cluster)
  } finally {
    cluster.close()
    await engine?.close()
  }
}
