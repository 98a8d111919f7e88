import { type DiskOperation, describeOperation, isLonger, type OperationOf } from './operation.ts'
import { pageBytes } from './pages.ts'
import type { Tree } from './tree.ts'
import type { DiskModel } from './unsynced.ts'

/** What a power failure leaves of the unsynced operations. */
export interface PowerOutcome {
  /** After the name of the node, in a label; empty if there were none. */
  readonly says: string
  /** Their places, in order. */
  readonly kept: readonly number[]
  /** How many bytes of the last one are kept; undefined for all. */
  readonly tornAt: number | undefined
}

/** What a disk writes at once. A file system allocates pages. */
const sectorBytes = 512
/** Of many operations, this many of the latest are told apart. The earlier ones are lost or kept together. */
const apartMax = 8

/**
 * The outcomes that a search may choose from, the simplest first: all are kept; the last ones are lost; all are; one
 * alone is; the last that is kept is torn. After Pillai and others, All File Systems Are Not Created Equal, OSDI 2014.
 */
export const outcomesOf = (operations: readonly DiskOperation[], model: DiskModel): readonly PowerOutcome[] => {
  const known = made.get(operations)
  if (known) return known
  const found = operations.length === 0 ? [{ says: '', kept: [], tornAt: undefined }] : distinct(all(operations, model))
  made.set(operations, found)
  return found
}

/** By operations, which are of one disk: they are asked for in each state, and seldom change. */
const made = new WeakMap<readonly DiskOperation[], readonly PowerOutcome[]>()

const all = (operations: readonly DiskOperation[], model: DiskModel): PowerOutcome[] => {
  const count = operations.length
  const places = operations.map((_, index) => index)
  const latest = places.slice(-apartMax)
  const first = (number: number) => places.slice(0, number)
  const outcome = (kept: readonly number[], how: string, tornAt?: number): PowerOutcome => ({
    says: ` keeps ${kept.length} of ${count}${how}`,
    kept,
    tornAt,
  })
  return [
    outcome(places, ''),
    ...latest
      .filter(place => place > 0)
      .reverse()
      .map(place => outcome(first(place), `, not ${describeOperation(operations[place]!)}`)),
    outcome([], ''),
    ...latest.slice(0, -1).map(place => {
      const lost = alsoLost(operations, place, model)
      const kept = places.filter(other => !lost.has(other))
      return outcome(kept, `, without ${place + 1} ${describeOperation(operations[place]!)}`)
    }),
    ...latest.flatMap(place => {
      const last = operations[place]!
      const tornAt = last.does === 'write' ? tearOf(last, model) : undefined
      return tornAt === undefined ? [] : [outcome(first(place + 1), `, ${describeOperation(last)} torn`, tornAt)]
    }),
  ]
}

/** The first of those that leave the same. */
const distinct = (outcomes: readonly PowerOutcome[]): PowerOutcome[] => {
  const seen = new Set<string>()
  return outcomes.filter(({ kept, tornAt }) => {
    const key = `${kept.join()} ${tornAt}`
    return !seen.has(key) && seen.add(key)
  })
}

/** What is lost with one operation: in an ordered file system, later ones that could not be written without it. */
const alsoLost = (operations: readonly DiskOperation[], place: number, model: DiskModel): ReadonlySet<number> => {
  const lost = new Set([place])
  if (model === 'posix') return lost
  for (const [index, operation] of operations.entries())
    if (index > place && [...lost].some(other => needs(operation, operations[other]!))) lost.add(index)
  return lost
}

/** Whether an ordered file system writes an operation only after an earlier one. */
const needs = (later: DiskOperation, earlier: DiskOperation): boolean => {
  if (later.does !== 'write') {
    // Names and sizes are in one journal, and data is written before what speaks of it.
    if (earlier.does !== 'write') return true
    return later.file === earlier.file && (later.does === 'resize' || (later.does === 'rename' && !!later.replaced))
  }
  if (later.file !== earlier.file) return false
  return (
    earlier.does === 'make' ||
    earlier.does === 'resize' ||
    (earlier.does === 'write' && isLonger(earlier) && isLonger(later))
  )
}

/** Where a write may be torn: at the first border within it. A file grows by pages in an ordered file system. */
const tearOf = (write: OperationOf<'write'>, model: DiskModel): number | undefined => {
  const border = model === 'ordered' && isLonger(write) ? pageBytes : sectorBytes
  const first = border - (write.offset % border)
  return first < write.after.length ? first : undefined
}

/** Whether a write may be torn where a file system promises no more than POSIX, and not in an ordered one. */
export const isTornWithoutOrder = (operation: DiskOperation): boolean =>
  operation.does === 'write' && tearOf(operation, 'posix') !== undefined && tearOf(operation, 'ordered') === undefined

/** What a power failure leaves that comes in the middle of a step, when nobody knows yet what there will be to lose. */
export const remainders = ['all', 'none', 'a torn end'] as const

export type Remainder = (typeof remainders)[number]

/** The outcome of a power failure that leaves this remainder. */
export const powerOutcomeOf = (
  remainder: Remainder,
  operations: readonly DiskOperation[],
  model: DiskModel,
): PowerOutcome => {
  const kept = remainder === 'none' ? [] : operations.map((_, index) => index)
  const last = operations.at(-1)
  const tornAt = remainder === 'a torn end' && last?.does === 'write' ? tearOf(last, model) : undefined
  return { says: '', kept, tornAt }
}

/** Leaves of the present tree what a power failure leaves. */
export const loseIn = (tree: Tree, operations: readonly DiskOperation[], { kept, tornAt }: PowerOutcome): void => {
  for (const operation of operations.toReversed()) tree.undo(operation)
  const last = kept.at(-1)
  for (const place of kept) {
    const operation = operations[place]!
    const isTorn = place === last && tornAt !== undefined && operation.does === 'write'
    tree.redo(isTorn ? { ...operation, after: operation.after.subarray(0, tornAt) } : operation)
  }
}
