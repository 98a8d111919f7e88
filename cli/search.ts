import { type Cell, OwnCell } from '../checker/cell.ts'
import { checkInCells, select } from '../checker/check.ts'
import type { SearchOptions } from '../checker/options.ts'
import type { Verdict } from '../checker/verdict.ts'
import type { CheckOptions } from './options.ts'
import { scheduleFrom, seedFrom } from './recorded.ts'
import type { Session } from './session.ts'
import { type Spares, Worker } from './workers.ts'

export const defaultMs = 60_000

/** What a search works with. */
export interface Hands {
  /** That workers may use. */
  readonly cpus: readonly number[]
  readonly spares?: Spares | undefined
}

/** Where a session's system is explored: in its own cluster, or in workers. */
export const cellsFor = (session: Session, options: CheckOptions, hands: Hands): Cell[] => {
  const { cluster, system } = session
  const { workers = 1, property } = options
  if (workers > 1) return startWorkers(session, options, hands)
  return [new OwnCell(cluster, select(system.properties, property), { weights: system.weights })]
}

/** Explores a session's system and examines what it finds. */
export const search = (session: Session, options: CheckOptions, cells: readonly Cell[]): Promise<Verdict> =>
  checkInCells(cells, select(session.system.properties, options.property), searchOf(session, options))

const startWorkers = ({ config }: Session, options: CheckOptions, { cpus, spares }: Hands): Worker[] => {
  const { workers = 1, property } = options
  const order = { file: config.path, translated: config.translated, seed: nodesSeed(options), property }
  return Array.from(
    { length: workers },
    (_, i) => new Worker({ ...order, cpu: cpus[i % cpus.length]! }, cpus, spares?.take()),
  )
}

const searchOf = ({ seed, signal }: Session, options: CheckOptions): SearchOptions => {
  const { from, ...others } = options
  return {
    ...others,
    seed: options.seed ?? seed,
    signal,
    milliseconds: timeOf(options),
    from: typeof from === 'string' ? scheduleFrom(from) : from,
  }
}

/** Of the nodes' randomness: that of the search, or that with which the steps to begin with were recorded. */
export const nodesSeed = ({ seed, from }: Pick<CheckOptions, 'seed' | 'from'>): number | undefined =>
  typeof from === 'string' ? seedFrom(from) : seed

/** Time for the search; `undefined` where executions alone limit it. */
export const timeOf = ({ milliseconds, executions }: CheckOptions): number | undefined =>
  milliseconds ?? (executions === undefined ? defaultMs : undefined)
