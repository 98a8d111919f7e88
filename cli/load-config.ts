import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, parse, resolve } from 'node:path'
import { inspect } from 'node:util'
import { createJiti } from 'jiti'
import { fromCompose } from '../docker/compose/nodes.ts'
import {
  ConfigError,
  defineSystem,
  isSystemDefinition,
  resolveSystem,
  type SystemDefinition,
} from '../harness/config.ts'
import { createRunDirectory } from '../harness/files/run-directory.ts'

export interface LoadedConfig {
  /** Absolute; empty for a definition that a program gave. */
  readonly path: string
  /** Of the file's content, in hex; what it imports is not in it. */
  readonly sha256: string
  /** What paths in it are relative to. */
  readonly directory: string
  /** As the file has it: `resolveSystem` says whether it is right. */
  readonly definition: SystemDefinition
  /** Directory of its JavaScript, for other processes of this run; empty where it is no program of a file. */
  readonly translated: string
}

/** What a configuration imports as `lastnail`: this package, whether or not it is installed where the file lies. */
const packageUrl = new URL(import.meta.url.endsWith('.ts') ? '../index.ts' : '../index.js', import.meta.url).href

/**
 * Loads a configuration, TypeScript or JavaScript, or a compose file. Throws a `ConfigError` of one line where it cannot be read, parsed
 * or executed, or its default export was not made by `defineSystem`.
 *
 * @param translated of the same file; it takes a fifth of a second to translate it
 */
export const loadConfig = async (file: string, translated?: string): Promise<LoadedConfig> => {
  const path = resolve(file)
  const content = readConfig(path)
  const loaded = { path, sha256: sha256(content), directory: dirname(path) }
  if (isYaml(path)) return { ...loaded, definition: composed(path), translated: '' }
  const cache = translated ?? createRunDirectory()
  const exported = await execute(path, cache)
  return { ...loaded, definition: definitionOf(exported, path), translated: cache }
}

const isYaml = (path: string) => /\.ya?ml$/.test(path)

/** The services of a compose file, of which no properties are known: they may neither crash nor diverge. */
const composed = (path: string): SystemDefinition => defineSystem({ name: parse(path).name, nodes: fromCompose(path) })

/** A definition that a program gave; its paths are relative to the current directory. */
export const configOf = (definition: SystemDefinition): LoadedConfig => {
  if (!isSystemDefinition(definition)) throw notDefined('expected a system', definition)
  return { path: '', sha256: sha256(''), directory: process.cwd(), definition, translated: '' }
}

/** What the user should know about a configuration that is right. */
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

const execute = async (path: string, cache: string): Promise<unknown> => {
  const library = await import(packageUrl)
  const jiti = createJiti(path, { fsCache: cache, virtualModules: { lastnail: library } })
  try {
    return await jiti.import(path)
  } catch (cause) {
    throw new ConfigError([explain(cause, path)], { cause })
  }
}

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

/** One line for what went wrong while a file was executed, with the place where that is known. */
const explain = (error: unknown, path: string): string => {
  if (!(error instanceof Error)) return `${path}: threw ${inspect(error, { depth: 0 })}`
  const [, problem, place, column] = /^ParseError: (.*?)\s*\n\s*(.*):(\d+)$/.exec(error.message) ?? []
  // The parser counts columns from 0, editors from 1.
  if (problem !== undefined) return `${place}:${Number(column) + 1}: ${problem}`
  const line = error.message.split('\n', 1)[0]
  if (/^Cannot find (module|package) /.test(line!)) return `${importer(error) ?? path}: ${uncapitalised(line!)}`
  return `${placeOf(error, path) ?? path}: threw ${error.name}: ${line}`
}

/** The file whose import was not found. */
const importer = (error: Error): string | undefined => (error as { requireStack?: string[] }).requireStack?.[0]

/** Where in the configuration an error was thrown. */
const placeOf = (error: Error, path: string): string | undefined => {
  const at = error.stack?.split('\n').find(frame => frame.includes(`${path}:`))
  const [, line] = at?.slice(at.indexOf(path) + path.length).match(/^:(\d+)/) ?? []
  return line && `${path}:${line}`
}

const uncapitalised = (text: string) => text[0]!.toLowerCase() + text.slice(1)
