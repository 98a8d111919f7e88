import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { z } from 'zod'
import { ConfigError } from '../../harness/config/config.ts'
import { interpolate } from './interpolate.ts'
import { type Compose, composeSchema } from './schema.ts'

const require = createRequire(import.meta.url)
/** Loaded only for a compose file. Loaded synchronously, because configurations call `fromCompose` so. */
const yaml = (): typeof import('yaml') => require('yaml')

/** A place in a file: names and indices from its root. */
export type FieldPath = readonly PropertyKey[]

/** A parsed compose file. */
export interface ComposeFile {
  readonly content: Compose
  /** A message about a place in the file, with its line. */
  problem(place: FieldPath, message: string): string
}

/** @throws ConfigError with a line for each problem: file, line, field, what was expected */
export const readComposeFile = (path: string): ComposeFile => {
  const { LineCounter, parseDocument, visit } = yaml()
  const lines = new LineCounter()
  const document = parseDocument(readText(path), { lineCounter: lines, merge: true })
  const at = (offset: number) => `${path}:${lines.linePos(offset).line}`
  if (document.errors.length > 0)
    throw new ConfigError(document.errors.map(({ message, pos }) => `${at(pos[0])}: ${message.split('\n')[0]}`))

  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value !== 'string') return
      try {
        scalar.value = interpolate(scalar.value, process.env)
      } catch (error) {
        throw new ConfigError([`${at(scalar.range![0])}: ${(error as Error).message}`])
      }
    },
  })

  const problem = (place: FieldPath, message: string) =>
    `${at(offsetOf(document.contents, place))}: ${place.map(String).join('.') || 'the file'}: ${message}`
  const checked = composeSchema.safeParse(contentOf(document, path))
  if (!checked.success) throw new ConfigError(checked.error.issues.flatMap(issue => problemsOf(issue, problem)))
  return { content: checked.data, problem }
}

/** @throws ConfigError if its aliases make it far larger than it is written */
const contentOf = (document: { toJS(): unknown }, path: string): unknown => {
  try {
    return document.toJS()
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
