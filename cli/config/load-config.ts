import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, parse, resolve } from 'node:path'
import { inspect } from 'node:util'
import { fromCompose } from '../../docker/compose/nodes.ts'
import {
  ConfigError,
  defineSystem,
  isSystemDefinition,
  resolveSystem,
  type SystemDefinition,
} from '../../harness/config/config.ts'
import { createRunDirectory } from '../../harness/files/run-directory.ts'
import { fromShadow } from './shadow.ts'
import { isShadow } from './shadow-file.ts'
import { translationsDirectory } from './translations.ts'

export interface LoadedConfig {
  /** Absolute; empty for a definition made by a program. */
  readonly path: string
  /** Hash of the file's content, in hex. It does not cover what the file imports. */
  readonly sha256: string
  /** Directory to which its paths are relative. */
  readonly directory: string
  /** As exported; `resolveSystem` validates it. */
  readonly definition: SystemDefinition
  /** Directory of the compiled JavaScript; empty if there is none. */
  readonly translated: string
}

/**
 * What a configuration imports as `lastnail`: this package, even if it is not installed in the configuration's project.
 * In the bundle, all files are in one directory.
 */
const packageUrl = new URL(
  `${import.meta.dirname.endsWith('config') ? '../..' : '.'}/index${extname(import.meta.filename)}`,
  import.meta.url,
).href

/**
 * Loads a configuration in TypeScript or JavaScript, a compose file, or a configuration of Shadow. Throws a `ConfigError` with one line if it
 * cannot be read, parsed or executed, or if its default export was not made by `defineSystem`.
 *
 * @param translated directory of the same file's compiled JavaScript
 */
export const loadConfig = async (file: string, translated?: string): Promise<LoadedConfig> => {
  const path = resolve(file)
  const content = readConfig(path)
  const loaded = { path, sha256: sha256(content), directory: dirname(path) }
  if (isYaml(path)) return { ...loaded, definition: ofYaml(path, content.toString()), translated: '' }
  const cache = translated ?? translationsDirectory()
  const { exported, translated: used } = await executeWith(path, cache)
  return { ...loaded, definition: definitionOf(exported, path), translated: used }
}

const isYaml = (path: string) => /\.ya?ml$/.test(path)

const ofYaml = (path: string, text: string): SystemDefinition =>
  isShadow(text) ? fromShadow(path, text) : composed(path)

/** The services of a compose file. It defines no properties, so only crashes and divergences are looked for. */
const composed = (path: string): SystemDefinition => defineSystem({ name: parse(path).name, nodes: fromCompose(path) })

/** A definition made by a program. Its paths are relative to the current directory. */
export const configOf = (definition: SystemDefinition): LoadedConfig => {
  if (!isSystemDefinition(definition)) throw notDefined('expected a system', definition)
  return { path: '', sha256: sha256(''), directory: process.cwd(), definition, translated: '' }
}

/** Notes for the user about a valid configuration. */
export const notesOf = ({ definition, directory }: LoadedConfig): readonly string[] =>
  resolveSystem(definition, { directory }).notes

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

const readConfig = (path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'no such file' : code === 'EISDIR' ? 'it is a directory' : message
    throw new ConfigError([`cannot read the configuration ${path}: ${why}`], { cause })
  }
}

const require = createRequire(import.meta.url)

/** If no compiled JavaScript can be written to the user's cache, it is of this run. */
const executeWith = async (path: string, cache: string): Promise<{ exported: unknown; translated: string }> => {
  try {
    return { exported: await execute(path, cache), translated: cache }
  } catch (error) {
    if (!isNotWritten(error, cache)) throw error
    const own = createRunDirectory()
    return { exported: await execute(path, own), translated: own }
  }
}

const notWritten = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EIO']

/** Whether a configuration was not executed because its compiled JavaScript could not be written. */
const isNotWritten = (error: unknown, cache: string): boolean => {
  const cause = (error as Error).cause as NodeJS.ErrnoException | undefined
  if (!notWritten.includes(cause?.code ?? '')) return false
  return cause!.path === undefined ? cause!.syscall === 'write' : cause!.path.startsWith(cache)
}

const execute = async (path: string, cache: string): Promise<unknown> => {
  // By `import`, Node.js would look through all of its code for names, which takes as long as everything else in loading it.
  const { createJiti }: typeof import('jiti') = require('jiti')
  const library = await import(packageUrl)
  const jiti = createJiti(path, { fsCache: cache, virtualModules: { lastnail: library } })
  for (const module of modulesOf.get(path) ?? []) delete jiti.cache[module]
  const before = new Set(Object.keys(jiti.cache))
  try {
    return await jiti.import(path)
  } catch (cause) {
    throw new ConfigError([explain(cause, path)], { cause })
  } finally {
    modulesOf.set(
      path,
      Object.keys(jiti.cache).filter(module => !before.has(module)),
    )
  }
}

/** Modules that a configuration brought along. They are loaded again with it, because files may have changed. */
const modulesOf = new Map<string, readonly string[]>()

const definitionOf = (exported: unknown, path: string): SystemDefinition => {
  const hasDefault = typeof exported === 'object' && exported !== null && 'default' in exported
  const definition = hasDefault ? exported.default : exported
  if (isSystemDefinition(definition)) return definition
  if (hasDefault) throw notDefined(`${path}: expected a default export`, definition)
  throw new ConfigError([`${path}: expected a default export made by defineSystem(…), found none`])
}

const notDefined = (expected: string, found: unknown) =>
  new ConfigError([
    `${expected} made by defineSystem(…), found ${inspect(found, { depth: 0, breakLength: Number.POSITIVE_INFINITY })}`,
  ])

/** One line about an error in executing a file, with the position if it is known. */
const explain = (error: unknown, path: string): string => {
  if (!(error instanceof Error)) return `${path}: threw ${inspect(error, { depth: 0 })}`
  const [, problem, place, column] = /^ParseError: (.*?)\s*\n\s*(.*):(\d+)$/.exec(error.message) ?? []
  // The parser counts columns from 0, editors count them from 1.
  if (problem !== undefined) return `${place}:${Number(column) + 1}: ${problem}`
  const line = error.message.split('\n', 1)[0]
  if (/^Cannot find (module|package) /.test(line!)) return `${importer(error) ?? path}: ${uncapitalised(line!)}`
  return `${placeOf(error, path) ?? path}: threw ${error.name}: ${line}`
}

/** The file with the import that was not found. */
const importer = (error: Error): string | undefined => (error as { requireStack?: string[] }).requireStack?.[0]

/** Position in the configuration at which an error was thrown. */
const placeOf = (error: Error, path: string): string | undefined => {
  const at = error.stack?.split('\n').find(frame => frame.includes(`${path}:`))
  const [, line] = at?.slice(at.indexOf(path) + path.length).match(/^:(\d+)/) ?? []
  return line && `${path}:${line}`
}

const uncapitalised = (text: string) => text[0]!.toLowerCase() + text.slice(1)
