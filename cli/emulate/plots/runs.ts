import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../../../checker/system/errors.ts'

const rows = z.array(z.looseObject({ s: z.number() }))
const end = z.looseObject({ s: z.number(), system: z.string(), seed: z.number() })
const shape = z.looseObject({ run: z.tuple([end]) }).catchall(rows)

/** What `emulate --series` wrote of a run. */
export interface RunSeries {
  readonly system: string
  readonly seed: number
  /** Duration by the clock of the run. */
  readonly seconds: number
  /** Rows by the name of their series, each in the order of time. */
  readonly series: Readonly<Record<string, readonly Measured[]>>
}

/** What was measured at a time, in seconds of the run. */
export type Measured = { readonly s: number } & Readonly<Record<string, unknown>>

/**
 * The file with the series of a run, the same for all names of its directory: `latest` is another name of one.
 *
 * @param path the directory of the run, its trace, or the file itself
 */
export const seriesFile = (path: string): string => {
  const file = path.endsWith('.json') ? path : join(isDirectory(path) ? path : dirname(path), 'series.json')
  return existsSync(file) ? realpathSync(file) : file
}

/** @throws UsageError if there is no such file */
export const readSeries = (file: string): RunSeries => {
  const { success, data } = shape.safeParse(contentOf(file))
  if (!success) throw new UsageError(`${file}: expected what emulate --series writes`)
  const { run, ...series } = data
  const [{ s: seconds, system, seed }] = run
  return { system, seed, seconds, series: series as RunSeries['series'] }
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

const contentOf = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file' : (cause as Error).message
    throw new UsageError(`cannot read ${file}, which emulate --series writes: ${reason}`, { cause })
  }
}

/** Values by what they are values of: times in seconds, and each number that `emulation.measure` found. */
export const valuesOf = ({ series }: RunSeries): Readonly<Record<string, readonly number[]>> => {
  const { looks: _, happenings: __, joins = [], recoveries = [], calls = [], loads = [], ...measured } = series
  const secondsOf = (rows: readonly Measured[]) => numbersOf(rows, 'tookMs').map(ms => ms / 1000)
  const columns = Object.entries(measured).flatMap(([name, rows]) =>
    [...new Set(rows.flatMap(row => Object.keys(row)))]
      .filter(column => column !== 's')
      .map(column => [`${name} ${column}`, numbersOf(rows, column)] as const),
  )
  const all = {
    'seconds to join': secondsOf(joins),
    'seconds to recover after a fault': secondsOf(recoveries),
    'seconds of a call': secondsOf(calls.filter(({ isOk }) => isOk === true)),
    'per cent of calls that failed': calls.length === 0 ? [] : calls.map(({ isOk }) => (isOk === true ? 0 : 100)),
    'per cent of the bandwidth of a link': numbersOf(loads, 'load').map(load => 100 * load),
    ...Object.fromEntries(columns),
  }
  return Object.fromEntries(Object.entries(all).filter(([, values]) => values.length > 0))
}

const numbersOf = (rows: readonly Measured[], column: string): number[] =>
  rows.flatMap(row => (typeof row[column] === 'number' ? [row[column]] : []))
