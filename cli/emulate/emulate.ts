import { UsageError } from '../../checker/system/errors.ts'
import { resolveSystem } from '../../harness/config/config.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { requireAbilities } from '../session/machine.ts'
import { emulateNatively } from './native.ts'
import { isPredicted, predictsFromStates } from './predictions.ts'
import { requireRoom } from './room.ts'
import { stopsTheClock } from './search-besides.ts'
import { emulationOf, type RunOptions } from './settings.ts'
import { takesBack } from './steering.ts'
import type { Emulated } from './summary.ts'
import { emulateInTime } from './timed.ts'

/**
 * Runs a system over an emulated internet until its time is over or somebody ends it.
 *
 * @throws ConfigError, TopologyError, MachineLacks
 */
export const emulate = async (config: LoadedConfig, options: RunOptions): Promise<Emulated> => {
  const system = resolveSystem(config.definition, { directory: config.directory })
  const settings = emulationOf(system, config.directory, options)
  requireAbilities()
  requireRoom(system.nodes.length)
  const pace = options.pace ?? system.emulation.pace
  if (options.steer !== undefined && options.guard !== undefined)
    throw new UsageError('expected --steer or --guard, found both: --steer prevents all violations')
  if ((options.everyMs ?? options.inputsMax) !== undefined && !isPredicted(options))
    throw new UsageError('expected --predict or --steer, which --every and --inputs belong to')
  if (pace === 'native' && options.predict) throw predictsFromStates()
  if (pace === 'native' && options.checkEveryMs !== undefined) throw stopsTheClock(pace)
  if (pace === 'native' && (options.steer !== undefined || options.guard !== undefined)) throw takesBack(pace)
  return pace === 'native'
    ? emulateNatively(config, system, settings, options)
    : emulateInTime(config, options.onlyVisitors ? { ...system, clients: [] } : system, { ...settings, pace }, options)
}
