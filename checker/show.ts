import { inspect } from 'node:util'

/** One line of any value at all, for a message. */
export const shown = (value: unknown, lengthMax = 120): string => {
  const text = attempt(() =>
    typeof value === 'string'
      ? JSON.stringify(value)
      : inspect(value, { depth: 2, breakLength: Number.POSITIVE_INFINITY, compact: true, maxArrayLength: 5 }),
  )
  return shortened(text ?? 'a value that cannot be shown', lengthMax)
}

/** One line of what was thrown, which may be anything. */
export const thrown = (error: unknown): string =>
  error instanceof Error ? shortened(attempt(() => `${error}`) ?? 'an error that cannot be shown', 300) : shown(error)

/** The same without the name of the error. */
export const messageOf = (error: unknown): string => {
  const message = attempt(() => (error as Error).message)
  return typeof message === 'string' ? message : typeof error === 'string' ? error : shown(error)
}

/** What properties read, as far as a line goes: the states of its nodes, where it has some. */
export const shownState = (state: unknown): string => {
  const nodes = (state as { nodes?: unknown } | null | undefined)?.nodes
  if (!Array.isArray(nodes)) return shown(state, stateLengthMax)
  const each = nodes.map(node => `${node?.name} ${node?.alive === false ? 'down' : json(node?.state)}`)
  return shortened(each.join(', '), stateLengthMax)
}

const stateLengthMax = 400

const json = (value: unknown): string =>
  attempt(() => JSON.stringify(value)) ?? (value === undefined ? 'up' : shown(value))

const shortened = (text: string, lengthMax: number): string => {
  const line = text.replaceAll(/\s*\n\s*/g, ' ')
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 1)}…`
}

/** What a value does when it is read is its own matter: it may throw. */
const attempt = <Result>(work: () => Result): Result | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}
