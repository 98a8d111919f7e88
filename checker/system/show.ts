import { inspect } from 'node:util'
import { shortened } from './brief.ts'

/** Any value in one line, for a message. */
export const shown = (value: unknown, lengthMax = 120): string => {
  const text = attempt(() =>
    typeof value === 'string'
      ? JSON.stringify(value)
      : inspect(value, { depth: 2, breakLength: Number.POSITIVE_INFINITY, compact: true, maxArrayLength: 5 }),
  )
  return shortened(text ?? 'a value that cannot be shown', lengthMax)
}

/** Anything that was thrown, in one line. */
export const thrown = (error: unknown): string =>
  error instanceof Error ? shortened(attempt(() => `${error}`) ?? 'an error that cannot be shown', 300) : shown(error)

/** The message of anything that was thrown, in one line, without the error's name. */
export const messageOf = (error: unknown): string => {
  const message = attempt(() => (error as Error).message)
  return typeof message === 'string' ? message : typeof error === 'string' ? error : shown(error)
}

/** A state in one line for a message: the states of its nodes, if it has nodes. */
export const shownState = (state: unknown): string => {
  const nodes = (state as { nodes?: unknown } | null | undefined)?.nodes
  if (!Array.isArray(nodes)) return shown(state, stateLengthMax)
  const each = nodes.map(node => `${node?.name} ${node?.alive === false ? 'down' : json(node?.state)}`)
  return shortened(each.join(', '), stateLengthMax)
}

const stateLengthMax = 400

const json = (value: unknown): string =>
  attempt(() => JSON.stringify(value)) ?? (value === undefined ? 'up' : shown(value))

/** Reading a value may run code that throws. */
const attempt = <Result>(work: () => Result): Result | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** A duration in seconds, to the millisecond: `0.25 s`. */
export const inSeconds = (milliseconds: number): string => `${Number((milliseconds / 1000).toFixed(3))} s`
