import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual, parseEnv } from 'node:util'
import type { Document } from 'yaml'
import type { z } from 'zod'
import { ConfigError } from '../../harness/config/config.ts'
import { extendedServices, type FieldPath, withAbsolutePaths } from './extend.ts'
import { interpolate, type Variables } from './interpolate.ts'
import { type Compose, composeSchema } from './schema.ts'

const require = createRequire(import.meta.url)
/** Loaded only for a compose file. Loaded synchronously, because configurations call `fromCompose` so. */
const yaml = (): typeof import('yaml') => require('yaml')

/** A parsed compose file. */
export interface ComposeFile {
  readonly content: Compose
  /** The variables that it was read with. */
  readonly variables: Variables
  /** A message about a place in the file, with its line. */
  problem(place: FieldPath, message: string): string
}

/** @throws ConfigError with a line for each problem: file, line, field, what was expected */
export const readComposeFile = (path: string): ComposeFile => read(path, {}, [])

/** How a file that another one includes is read. */
interface Included {
  /** Where its relative paths begin, if not beside it. */
  readonly directory?: string
  readonly envFiles?: readonly string[]
}

/** @param within the files that include it, the outermost first */
const read = (path: string, { directory, envFiles }: Included, within: readonly string[]): ComposeFile => {
  if (within.includes(path))
    throw new ConfigError([`${within.at(-1)}: expected no circle of files, but it includes ${path}`])
  const variables = variablesFor(path, envFiles)
  const parsed = parse(path, variables)
  const { problem } = parsed
  const unset = [...parsed.unset]
  const others = new Map<string, unknown>()
  const whole = extendedServices(parsed.content, path, problem, other => {
    if (!others.has(other)) {
      const extended = parse(other, variables)
      others.set(other, extended.content)
      unset.push(...extended.unset)
    }
    return others.get(other)
  })
  const written = within.length === 0 ? whole : withAbsolutePaths(whole, directory ?? dirname(path))
  const checked = composeSchema.safeParse(withoutExtensions(written))
  const wrong = checked.error?.issues.flatMap(issue => problemsOf(issue, problem)) ?? []
  if (!checked.success || unset.length > 0) throw new ConfigError([...unset, ...wrong])
  const file = { content: checked.data, variables, problem }
  return checked.data.include.reduce<ComposeFile>((all, included) => {
    const from = (place: string) => resolve(dirname(path), place)
    const { project_directory: base, env_file } = included
    const how = {
      ...(base !== undefined && { directory: from(base) }),
      ...(env_file && { envFiles: env_file.map(from) }),
    }
    return together(all, read(from(included.path), how, [...within, path]), dirname(path))
  }, file)
}

/** A file with what it includes, whose names must be others. @throws ConfigError */
const together = (whole: ComposeFile, included: ComposeFile, directory: string): ComposeFile => {
  const content = { ...whole.content }
  const meaning = (given: unknown) =>
    typeof given === 'object' && given !== null && 'file' in given ? resolve(directory, String(given.file)) : given
  for (const kind of ['services', 'volumes', 'secrets', 'configs'] as const) {
    const [known, more] = [content[kind] ?? {}, included.content[kind] ?? {}]
    const both = Object.keys(more).filter(
      name =>
        Object.hasOwn(known, name) &&
        (kind === 'services' || !isDeepStrictEqual(meaning(known[name]), meaning(more[name]))),
    )
    if (both.length > 0)
      throw new ConfigError(both.map(name => whole.problem([kind, name], 'is in an included file too')))
    Object.assign(content, { [kind]: { ...more, ...known } })
  }
  const isOfIncluded = ([kind, name]: FieldPath) =>
    kind === 'services' && Object.hasOwn(included.content.services, name!)
  const problem = (place: FieldPath, message: string) =>
    (isOfIncluded(place) ? included : whole).problem(place, message)
  return { ...whole, content, problem }
}

interface Parsed {
  /** As it is written, with its variables. */
  readonly content: unknown
  /** A line for each variable that must be set and is not. */
  readonly unset: readonly string[]
  readonly problem: ComposeFile['problem']
}

const parse = (path: string, variables: Variables): Parsed => {
  const { LineCounter, parseDocument, visit } = yaml()
  const lines = new LineCounter()
  const document = parseDocument(readText(path), { lineCounter: lines, merge: true })
  const at = (offset: number) => `${path}:${lines.linePos(offset).line}`
  if (document.errors.length > 0)
    throw new ConfigError(document.errors.map(({ message, pos }) => `${at(pos[0])}: ${message.split('\n')[0]}`))

  const unset: string[] = []
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value !== 'string') return
      try {
        scalar.value = interpolate(scalar.value, variables)
      } catch (error) {
        unset.push(`${at(scalar.range![0])}: ${(error as Error).message}`)
      }
    },
  })
  const problem = (place: FieldPath, message: string) =>
    `${at(offsetOf(document.contents, place))}: ${place.map(String).join('.') || 'the file'}: ${message}`
  return { content: contentOf(document, path), unset, problem }
}

/** The variables that a file may name: those of this process, before those of the file `.env` beside it, or of the files that are given. */
const variablesFor = (path: string, files: readonly string[] = [join(dirname(path), '.env')]): Variables =>
  Object.assign({}, ...files.map(file => variablesIn(file) ?? {}), process.env)

/**
 * The variables that lines `NAME=value` of a file set; undefined if there is no such file.
 *
 * @throws ConfigError if it cannot be read
 */
export const variablesIn = (path: string): Variables | undefined => {
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new ConfigError([`cannot read the variables in ${path}: ${message}`], { cause })
  }
}

/** Fields whose own fields are names that the user chose. */
const ofNames: ReadonlySet<string> = new Set([
  ...['services', 'volumes', 'networks', 'secrets', 'configs', 'depends_on'],
  ...['environment', 'labels', 'annotations', 'extra_hosts', 'driver_opts', 'args', 'sysctls'],
])

/** Without the fields `x-…`, which the Compose specification leaves to others. */
const withoutExtensions = (value: unknown, name = ''): unknown => {
  if (Array.isArray(value)) return value.map(each => withoutExtensions(each))
  if (typeof value !== 'object' || value === null) return value
  const isOfNames = ofNames.has(name)
  const fields = Object.entries(value).filter(([key]) => isOfNames || !key.startsWith('x-'))
  return Object.fromEntries(fields.map(([key, each]) => [key, withoutExtensions(each, isOfNames ? '' : key)]))
}

/** Files of a hundred services that share some anchors have thousands; a bomb has millions. */
const aliasesMax = 100_000

/** @throws ConfigError if its aliases make it far larger than it is written */
const contentOf = (document: Document, path: string): unknown => {
  try {
    return document.toJS({ maxAliasCount: aliasesMax })
  } catch (cause) {
    throw new ConfigError([`${path}: its aliases cannot be resolved: ${uncapitalised((cause as Error).message)}`], {
      cause,
    })
  }
}

const uncapitalised = (text: string) => text[0]!.toLowerCase() + text.slice(1)

const problemsOf = (issue: z.core.$ZodIssue, problem: ComposeFile['problem']): string[] => {
  if (issue.code !== 'unrecognized_keys') return [problem(issue.path, issue.message)]
  return issue.message.split('\n').map((line, index) => {
    const [, message] = /^[^:]*: (.*)$/.exec(line)!
    return problem([...issue.path, issue.keys[index]!], message!)
  })
}

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new ConfigError([`cannot read the compose file ${path}: ${code === 'ENOENT' ? 'no such file' : message}`], {
      cause,
    })
  }
}

/** Position of a place in the text, or of the innermost existing place around it. */
const offsetOf = (root: unknown, place: FieldPath): number => {
  let node = root
  const { isNode, isPair, isScalar } = yaml()
  let offset = isNode(root) ? root.range![0] : 0
  for (const step of place) {
    const items: readonly unknown[] = (node as { items?: unknown[] } | null)?.items ?? []
    const named = items.find(item => isPair(item) && isScalar(item.key) && item.key.value === step)
    if (isPair(named)) {
      offset = (named.key as { range?: [number] }).range![0]
      node = named.value
    } else {
      node = typeof step === 'number' ? items[step] : undefined
      if (!isNode(node)) break
      offset = node.range![0]
    }
  }
  return offset
}
