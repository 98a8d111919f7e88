import { check } from '../checker/check.ts'
import type { Verdict } from '../checker/verdict.ts'
import type { CheckOptions } from './options.ts'
import { scheduleFrom, seedFrom } from './recorded.ts'
import type { Session } from './session.ts'

export const defaultMs = 60_000

/** Which part of a search a process does: one of `count`, counted from 0. */
export interface Share {
  readonly index: number
  readonly count: number
}

const whole: Share = { index: 0, count: 1 }

/** Explores a session's system, or its share of that, and examines what it finds. */
export const search = (session: Session, options: CheckOptions, share = whole): Promise<Verdict> => {
  const { cluster, system, seed, signal } = session
  const { from, out: _, workers: __, executions, ...others } = options
  return check(cluster, system.properties, {
    ...others,
    // Every schedule of a length is executed once, not once by each.
    search: share.index > 0 ? 'walk' : options.search,
    seed: (options.seed ?? seed) + share.index * seedStride,
    signal,
    milliseconds: timeOf(options),
    executions: executions && partOf(executions, share),
    weights: system.weights,
    from: typeof from === 'string' ? scheduleFrom(from) : from,
  })
}

/** Of the nodes' randomness: that of the search, or that with which the steps to begin with were recorded. */
export const nodesSeed = ({ seed, from }: Pick<CheckOptions, 'seed' | 'from'>): number | undefined =>
  typeof from === 'string' ? seedFrom(from) : seed

/** So far apart that seeds given by hand do not meet. */
const seedStride = 1_000_003

const partOf = (total: number, { index, count }: Share) => Math.floor(total / count) + (index < total % count ? 1 : 0)

/** Time for the search; `undefined` where executions alone limit it. */
export const timeOf = ({ milliseconds, executions }: CheckOptions): number | undefined =>
  milliseconds ?? (executions === undefined ? defaultMs : undefined)
