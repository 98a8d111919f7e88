import { diffLines } from 'diff'
import stringify from 'json-stringify-pretty-compact'

/** A line of a diff: in both states, or in one only. */
export interface DiffLine {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

const lineLengthMax = 72

/** A value as JSON. Short lists and objects stay on one line. */
export const showState = (value: unknown): string =>
  value === undefined ? '(nothing seen)' : stringify(value, { maxLength: lineLengthMax })

/** The line diff of two states. */
export const diffOf = (before: unknown, after: unknown): DiffLine[] =>
  diffLines(`${showState(before)}\n`, `${showState(after)}\n`).flatMap(({ value, added, removed }) =>
    value
      .trimEnd()
      .split('\n')
      .map(text => ({ sign: added ? ('+' as const) : removed ? ('-' as const) : (' ' as const), text })),
  )

/** A field whose value changed. */
export interface ChangedField {
  /** Path of the field: `connection.seq`. Empty if the state is not an object and changed as a whole. */
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}

/** The innermost fields that changed. A list counts as one value. */
export const changedFields = (before: unknown, after: unknown, name = ''): ChangedField[] => {
  if (!isRecord(before) || !isRecord(after)) return same(before, after) ? [] : [{ name, before, after }]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap(inner =>
    changedFields(fieldOf(before, inner), fieldOf(after, inner), name ? `${name}.${inner}` : inner),
  )
}

/** Ignores inherited properties: a field may be called `constructor`. */
const fieldOf = (value: Record<string, unknown>, name: string) => (Object.hasOwn(value, name) ? value[name] : undefined)

const glanceMax = 300

/** A value on one line, cut where it is too long to read at a glance. */
export const onOneLine = (value: unknown): string => beginningOf(value, glanceMax)

const lengthMax = 60

/** A value on one short line, cut if necessary. */
export const shortly = (value: unknown): string => beginningOf(value, lengthMax)

const beginningOf = (value: unknown, max: number): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > max ? `${text.slice(0, max - 1)}…` : text
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
