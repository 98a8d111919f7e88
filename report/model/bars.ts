import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { Call } from './calls.ts'
import type { ShownExecution } from './execution.ts'
import type { Span } from './outages.ts'

type Operation = RecordedStep['operations'][number]

/** One operation or call of a client, from the step in which it began to the step in which its answer came. */
export interface Bar extends Span {
  readonly who: string
  readonly text: string
  /** `unknown`: the operation may or may not have taken effect. */
  readonly outcome: 'ok' | 'failed' | 'unknown'
  /** Whether the verdict's message lists this operation among those that contradict each other. */
  readonly contradicts: boolean
}

/** What each client did, by the client's name: operations if the trace has any, otherwise calls. */
export const barsOf = ({ steps, calls }: ShownExecution, message = ''): ReadonlyMap<string, readonly Bar[]> => {
  const operations = operationsOf(steps)
  const lines = contradictionIn(message)
  const bars = operations.length > 0 ? operations.map(each => barOf(each, lines)) : calls.map(barOfCall)
  const rows = new Map<string, Bar[]>()
  for (const bar of bars) {
    const row = rows.get(bar.who)
    if (row) row.push(bar)
    else rows.set(bar.who, [bar])
  }
  return rows
}

/** The final record of each operation, in the order of invocation. */
const operationsOf = (steps: readonly RecordedStep[]): Operation[] => {
  const all = new Map<number, Operation>()
  for (const { operations } of steps) for (const operation of operations) all.set(operation.invoked, operation)
  return [...all.values()].filter(({ invokedAt }) => invokedAt !== undefined)
}

const barOf = (operation: Operation, lines: readonly Line[]): Bar => {
  const { process, op, key, value, outcome, result, invokedAt, returnedAt } = operation
  const asked = [op, key, value === undefined ? undefined : JSON.stringify(value)]
    .filter(word => word !== undefined)
    .join(' ')
  const got = outcome === 'ok' ? (result === undefined ? '' : ` → ${JSON.stringify(result)}`) : ` → ${outcome}`
  return {
    who: process,
    from: invokedAt!,
    to: returnedAt,
    text: `${asked}${got}`,
    outcome,
    contradicts: lines.some(line => line.who === process && line.from === invokedAt && isAbout(line, asked)),
  }
}

const isAbout = ({ what }: Line, asked: string) => what === asked || what.startsWith(`${asked} →`)

const barOfCall = ({ client, from, to, result, error }: Call): Bar => ({
  ...{ who: client, from, to, contradicts: false },
  text: error === undefined ? (result ?? (to === undefined ? '…' : 'returned')) : `threw ${error}`,
  outcome: error === undefined ? (to === undefined ? 'unknown' : 'ok') : 'failed',
})

interface Line {
  readonly who: string
  readonly from: number
  readonly what: string
}

/**
 * The operations that the message of a history violation lists, one on each line: `    ann  step 3 to 5  write x 1`.
 */
const contradictionIn = (message: string): Line[] =>
  message.split('\n').flatMap(line => {
    const [, who, from, what] = /^ {4}(\S.*?) +step (\d+) to (?:\d+|…) +(.*?)\s*$/.exec(line) ?? []
    return who === undefined ? [] : [{ who, from: Number(from), what: what! }]
  })
