import { join } from 'node:path'
import { makeDirectories, type Writing, writeWhole } from '../../checker/system/written.ts'
import type { Run } from '../../harness/emulation/run.ts'
import type { PrintedLine } from './printed-lines.ts'

/** A row of a series: its time in seconds of the run, and what was measured then. */
export type Row = { readonly s: number } & Readonly<Record<string, string | number | boolean | null>>

/** Rows by the name of the series, in the order of time. */
export type Series = Readonly<Record<string, readonly Row[]>>

/** Series made of the lines that nodes print: a row for each line that a pattern of the configuration finds. */
export class MeasuredLines {
  readonly #patterns: Readonly<Record<string, RegExp>>
  readonly series: Record<string, Row[]>

  constructor(patterns: Readonly<Record<string, RegExp>>) {
    // A pattern that is global or sticky would begin where it ended in the line before.
    const anew = ({ source, flags }: RegExp) => new RegExp(source, flags.replace(/[gy]/g, ''))
    this.#patterns = Object.fromEntries(Object.entries(patterns).map(([name, pattern]) => [name, anew(pattern)]))
    this.series = Object.fromEntries(Object.keys(patterns).map(name => [name, []]))
  }

  see(lines: readonly PrintedLine[]): void {
    for (const { atMs, node, line } of lines)
      for (const [name, pattern] of Object.entries(this.#patterns)) {
        const found = pattern.exec(line)
        if (found) this.series[name]!.push({ s: seconds(atMs), node, ...valuesOf(found) })
      }
  }
}

/** By the names of groups, where they have names; else by their numbers. */
const valuesOf = (found: RegExpExecArray): Record<string, string | number | null> => {
  const groups = found.groups ?? Object.fromEntries(found.slice(1).map((text, index) => [`value${index + 1}`, text]))
  return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, numberOrText(text)]))
}

const numberOrText = (text: string | undefined): string | number | null => {
  if (text === undefined) return null
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

/** Measurements of a run over its time. */
export const seriesOf = ({ measurements, timed }: Pick<Run, 'measurements' | 'timed'>): Series => ({
  looks: measurements.looks.map(({ atMs, alive, without }) => ({ s: seconds(atMs), up: alive, violated: without })),
  joins: measurements.joins.map(({ atMs, node, tookMs }) => ({ s: seconds(atMs), node, tookMs })),
  happenings: measurements.happenings.map(({ atMs, label, node, kind }) => ({
    s: seconds(atMs),
    label,
    node: node ?? null,
    kind,
  })),
  recoveries: measurements.recoveries.map(({ fault, tookMs }) => ({
    s: seconds(fault.atMs),
    fault: fault.label,
    tookMs: tookMs ?? null,
  })),
  loads: measurements.loads.all.map(({ atMs, from, to, bytes, load }) => ({
    s: seconds(atMs),
    link: `${from}→${to}`,
    bytes,
    load: load === null ? null : Math.round(load * 1e4) / 1e4,
  })),
  calls: timed.map(({ client, beganMs, tookMs, isOk }) => ({ s: seconds(beganMs), client, tookMs, isOk })),
})

/**
 * Writes each series as CSV into a directory, and all as one JSON beside it.
 *
 * @returns the path of that, or null if something could not be written
 */
export const writeSeries = (place: string, series: Series, writing: Writing): string | null => {
  const all = join(place, 'series.json')
  writing.try(() => {
    writeWhole('the series', all, `${JSON.stringify(series)}\n`)
    makeDirectories(join(place, 'series'), 0o700)
    for (const [name, rows] of Object.entries(series))
      writeWhole('the series', join(place, 'series', `${name}.csv`), csvOf(rows))
  })
  return writing.problem === undefined ? all : null
}

const csvOf = (rows: readonly Row[]): string => {
  const columns = [...new Set(rows.flatMap(row => Object.keys(row)))]
  const lines = rows.map(row => columns.map(column => quoted(row[column] ?? '')).join(','))
  return `${[columns.join(','), ...lines].join('\n')}\n`
}

/** As RFC 4180 has it. */
const quoted = (value: string | number | boolean): string =>
  /[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value)

const seconds = (ms: number): number => Math.round(ms * 1000) / 1e6
