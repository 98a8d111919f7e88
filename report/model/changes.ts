import { diffLines } from 'diff'
import stringify from 'json-stringify-pretty-compact'

/** A line of a state: kept, or of one side alone. */
export interface DiffLine {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

const lineLengthMax = 72

/** A value as JSON, short lists and objects on one line. */
export const show = (value: unknown): string =>
  value === undefined ? '(nothing seen)' : stringify(value, { maxLength: lineLengthMax })

/** The lines of two states, and which are of one alone. */
export const diffOf = (before: unknown, after: unknown): DiffLine[] =>
  diffLines(`${show(before)}\n`, `${show(after)}\n`).flatMap(({ value, added, removed }) =>
    value
      .trimEnd()
      .split('\n')
      .map(text => ({ sign: added ? ('+' as const) : removed ? ('-' as const) : (' ' as const), text })),
  )

/** A field of a state that has another value than before. */
export interface ChangedField {
  /** With those that it is in: `connection.seq`; empty for a whole state that is no object. */
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}

/** The innermost fields that changed, as far as objects go: a list is one value. */
export const changedFields = (before: unknown, after: unknown, name = ''): ChangedField[] => {
  if (!isRecord(before) || !isRecord(after)) return same(before, after) ? [] : [{ name, before, after }]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap(inner =>
    changedFields(fieldOf(before, inner), fieldOf(after, inner), name ? `${name}.${inner}` : inner),
  )
}

/** A name may be one that every object inherits. */
const fieldOf = (value: Record<string, unknown>, name: string) => (Object.hasOwn(value, name) ? value[name] : undefined)

const glanceMax = 300

/** All of a value that can be seen at a glance. */
export const onOneLine = (value: unknown): string => beginningOf(value, glanceMax)

const lengthMax = 60

/** A value on one line, its beginning where it is long. */
export const shortly = (value: unknown): string => beginningOf(value, lengthMax)

const beginningOf = (value: unknown, max: number): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > max ? `${text.slice(0, max - 1)}…` : text
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
