import { DockerEngine } from '../../docker/engine.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'

/**
 * The Docker engine, if the system needs one. Prints which images it pulls.
 *
 * @throws EngineLacks, ConfigError
 */
export const openEngine = (system: ResolvedSystem): Promise<DockerEngine | undefined> =>
  DockerEngine.openFor(system, line => process.stderr.write(`lastnail: pulling ${line}\n`))
