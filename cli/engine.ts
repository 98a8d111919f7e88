import { DockerEngine } from '../docker/engine.ts'
import type { ResolvedSystem } from '../harness/config.ts'

/**
 * The engine of a system, where it needs one; says what is pulled.
 *
 * @throws EngineLacks, ConfigError
 */
export const openEngine = (system: ResolvedSystem): Promise<DockerEngine | undefined> =>
  DockerEngine.openFor(system, line => process.stderr.write(`lastnail: pulling ${line}\n`))
