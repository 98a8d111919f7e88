import { loadConfig } from '../../cli/config/load-config.ts'
import { type ResolvedSystem, resolveSystem } from '../../harness/config/config.ts'
import { configOf } from './package-root.ts'

/** @param name of its directory under `examples/` */
export const loadSystem = async (name: string): Promise<ResolvedSystem> => {
  const { definition, directory } = await loadConfig(configOf(name))
  return resolveSystem(definition, { directory })
}
