import type { Operation } from './operation.ts'

/** Operations as lines of a table: who, when, what, and the result. */
export const showOperations = (operations: readonly Operation[]): string[] => {
  const rows = operations.map(operation => [operation.process, when(operation), what(operation)] as const)
  const widths = [0, 1].map(column => Math.max(...rows.map(row => row[column]!.length)))
  return rows.map(row => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
}

const when = ({ invoked, invokedAt, returned, returnedAt }: Operation): string => {
  const [begin, end] = invokedAt === undefined ? [invoked, returned] : [invokedAt, returnedAt]
  return `${invokedAt === undefined ? 'from' : 'step'} ${begin} to ${end ?? '…'}`
}

const what = ({ op, key, value, outcome, result }: Operation): string => {
  const asked = [op, key, value === undefined ? undefined : JSON.stringify(value)]
  const got = outcome === 'ok' ? (result === undefined ? '' : ` → ${JSON.stringify(result)}`) : ' → ?'
  return `${asked.filter(word => word !== undefined).join(' ')}${got}`
}
