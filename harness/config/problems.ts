import { inspect } from 'node:util'
import type { z } from 'zod'
import type { NodesFile, SystemDefinition } from './definition.ts'
import { ConfigError } from './error.ts'
import { readNodes } from './nodes-file.ts'

/** One line for each problem: where, what was expected, what was found. */
export const problemsOf = (error: z.ZodError, definition: unknown): string[] =>
  error.issues.flatMap(({ code, path, message }) =>
    code === 'unrecognized_keys'
      ? message.split('\n').map(line => [...path, line].join('.'))
      : `${showPath(path)}: ${message}, found ${show(valueAt(definition, path))}`,
  )

/** The definition with its nodes as a record, and notes about them. */
export const expandNodes = (
  definition: SystemDefinition,
  directory: string,
): { definition: SystemDefinition; notes: readonly string[] } => {
  // TypeScript promises a definition, but a file may export anything.
  const { nodes } = definition ?? {}
  if (typeof nodes !== 'object' || nodes === null || !(readNodes in nodes))
    return { definition: expandCount(definition), notes: [] }
  const described = (nodes as NodesFile)[readNodes](directory)
  const shared = { ...described.shared, ...definition.shared }
  return { definition: { ...definition, nodes: described.nodes, shared }, notes: described.notes }
}

const expandCount = (definition: SystemDefinition): SystemDefinition => {
  const { nodes, count } = definition ?? {}
  if (typeof nodes !== 'function') {
    if (count === undefined) return definition
    throw new ConfigError([`count: expected nothing, since nodes is not a function of it, found ${show(count)}`])
  }
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1) {
    throw new ConfigError([
      `count: expected the number of nodes, since nodes is a function of it, found ${show(count)}`,
    ])
  }
  try {
    return { ...definition, nodes: nodes(count) }
  } catch (cause) {
    throw new ConfigError([`nodes: expected a function that gives the nodes, but it threw ${show(cause)}`], { cause })
  }
}

const showPath = (path: readonly PropertyKey[]) =>
  path.length === 0 ? 'the definition' : path.map(showKey).join('').replace(/^\./, '')

const showKey = (key: PropertyKey) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)

/** A path may continue into a value that stands for a list of itself. */
const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce((inner, key) => (typeof inner === 'object' && inner !== null ? inner[key as never] : inner), value)

const show = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'function') return 'a function'
  if (value instanceof Error) return `"${value.message}"`
  return inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, compact: true, maxArrayLength: 5 }).slice(
    0,
    120,
  )
}
