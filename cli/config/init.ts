import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { UsageError } from '../../checker/system/errors.ts'
import { writeWhole } from '../../checker/system/written.ts'
import { fromCompose } from '../../docker/compose/nodes.ts'
import { defineSystem, readNodes, resolveSystem } from '../../harness/config/config.ts'
import { type AskedProgram, configForCompose, configForPrograms } from './first-config.ts'

const fileName = 'lastnail.config.ts'

/**
 * Writes a configuration beside a compose file.
 *
 * @returns its path
 *
 * @throws ConfigError if the compose file is wrong, UsageError if there is a configuration already
 */
export const initFromCompose = (composePath: string): string => {
  const compose = resolve(composePath)
  const { nodes } = fromCompose(compose)[readNodes](dirname(compose))
  const file = basename(compose)
  const name = systemName(file.replace(/\.ya?ml$/, ''))
  return writeNew(join(dirname(compose), fileName), configForCompose(name, file, Object.keys(nodes)))
}

/**
 * Writes a configuration of programs into a directory.
 *
 * @returns its path
 *
 * @throws ConfigError if a name is not a host name, UsageError if two names are equal or there is a configuration
 * already
 */
export const initFromPrograms = (directory: string, programs: readonly AskedProgram[]): string => {
  const twice = programs.find(({ name }, index) => programs.findIndex(each => each.name === name) !== index)
  if (twice) throw new UsageError(`expected nodes of different names, found two named ${twice.name}`)
  const name = systemName(basename(resolve(directory)))
  const nodes = Object.fromEntries(programs.map(({ name, command, ports }) => [name, { command, listens: ports }]))
  resolveSystem(defineSystem({ name, nodes }), { directory })
  return writeNew(join(resolve(directory), fileName), configForPrograms(name, programs))
}

/** A valid name for a system, made from that of a file or directory. */
const systemName = (text: string) => text.replaceAll(/[^a-z0-9_.-]/gi, '-').replace(/^[^a-z0-9]+/i, '') || 'service'

/** @throws UsageError if the file exists or cannot be written */
const writeNew = (path: string, text: string): string => {
  if (existsSync(path)) throw new UsageError(`expected no ${path} yet: it would be overwritten`)
  writeWhole('the configuration', path, text, { flag: 'wx' })
  return path
}
