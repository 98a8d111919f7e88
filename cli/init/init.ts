import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { BudgetSpent } from '../../checker/system/budget.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { writeWhole } from '../../checker/system/written.ts'
import { fromCompose } from '../../docker/compose/nodes.ts'
import { defineSystem, readNodes, resolveSystem, type SystemDefinition } from '../../harness/config/config.ts'
import { explainError } from '../command/exit-code.ts'
import { type AskedProgram, configForCompose, configForPrograms } from './first-config.ts'
import type { FirstSight } from './look.ts'

const fileName = 'lastnail.config.ts'

/** A configuration that was written. */
export interface Written {
  readonly file: string
  /** What the nodes showed when they were started once, or why they did not, a line each. */
  readonly seen: readonly string[]
}

/**
 * Writes a configuration beside a compose file.
 *
 * @throws ConfigError if the compose file is wrong, UsageError if there is a configuration already
 */
export const initFromCompose = (composePath: string): Promise<Written> => {
  const compose = resolve(composePath)
  const directory = dirname(compose)
  const { nodes } = fromCompose(compose)[readNodes](directory)
  const file = basename(compose)
  const name = systemName(file.replace(/\.ya?ml$/, ''))
  const definition = defineSystem({ name, nodes: fromCompose(file) })
  return writeNew(directory, definition, seen => configForCompose(name, file, Object.keys(nodes), seen))
}

/**
 * Writes a configuration of programs into a directory.
 *
 * @throws ConfigError if a name is not a host name, UsageError if two names are equal or there is a configuration
 * already
 */
export const initFromPrograms = async (directory: string, programs: readonly AskedProgram[]): Promise<Written> => {
  const twice = programs.find(({ name }, index) => programs.findIndex(each => each.name === name) !== index)
  if (twice) throw new UsageError(`expected nodes of different names, found two named ${twice.name}`)
  const name = systemName(basename(resolve(directory)))
  const nodes = Object.fromEntries(programs.map(({ name, command, ports }) => [name, { command, listens: ports }]))
  const definition = defineSystem({ name, nodes })
  resolveSystem(definition, { directory })
  return writeNew(resolve(directory), definition, seen => configForPrograms(name, programs, seen))
}

/** A valid name for a system, made from that of a file or directory. */
const systemName = (text: string) => text.replaceAll(/[^a-z0-9_.-]/gi, '-').replace(/^[^a-z0-9]+/i, '') || 'service'

/**
 * Starts the nodes once to see what they are, and writes the configuration; a plainer one if they cannot be started.
 *
 * @throws UsageError if the file exists or cannot be written
 */
const writeNew = async (
  directory: string,
  definition: SystemDefinition,
  configFor: (seen: FirstSight | undefined) => string,
): Promise<Written> => {
  const file = join(directory, fileName)
  if (existsSync(file)) throw new UsageError(`expected no ${file} yet: it would be overwritten`)
  const { seen, lines } = await look(directory, definition)
  writeWhole('the configuration', file, configFor(seen), { flag: 'wx' })
  return { file, seen: lines }
}

const look = async (directory: string, definition: SystemDefinition) => {
  try {
    // Only who starts nodes loads what holds processes.
    const { lookAt } = await import('./look.ts')
    const seen = await lookAt({ path: '', sha256: '', translated: '', directory, definition })
    return { seen, lines: linesOf(seen) }
  } catch (error) {
    if (error instanceof BudgetSpent && error.what === 'aborted') throw error
    const { lines } = error instanceof BudgetSpent ? { lines: ['their start takes too long'] } : explainError(error)
    return {
      seen: undefined,
      lines: [`the nodes could not be started to look at them: ${lines[0]}`, ...lines.slice(1)],
    }
  }
}

const linesOf = ({ ports, printed, pages }: FirstSight): string[] =>
  Object.entries(ports).map(([node, open]) => {
    const each = open.map(port => {
      const answers = pages.filter(page => page.node === node && page.port === port)
      const said = answers.map(({ path, status, object }) => `${path} ${status}${object ? ' JSON' : ''}`)
      return `${port}${said.length > 0 ? ` (HTTP: ${said.join(', ')})` : ''}`
    })
    const listens = open.length === 0 ? 'listens on no TCP port' : `listens on ${each.join(', ')}`
    return `${node} ${listens}${node in printed ? ', and prints JSON' : ''}`
  })
