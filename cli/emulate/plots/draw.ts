import type { Figure, Group } from './compare.ts'
import { colourOf, cumulative, label, type PlotLine, panel, picture, spreads } from './panel.ts'
import { type RunSeries, valuesOf } from './runs.ts'

/**
 * What groups of runs have measured, as one SVG file that needs nothing else: over time the mean of the runs of a group,
 * with a band from the least to the most; distributions of all values of a group; and where there are several groups, the
 * figures of each.
 */
export const drawGroups = (groups: readonly Group[], figures: readonly Figure[]): string => {
  const seconds = Math.max(...groups.flatMap(({ runs }) => runs.map(run => run.seconds)))
  const names = [...new Set(figures.map(({ of }) => of))]
  const overTime = (title: string, column: string) =>
    panel(
      title,
      groups.map(({ runs }) => meanLine(runs, column)),
      seconds,
      's',
    )
  const distributions = names
    .filter(name => name !== 'per cent of calls that failed')
    .map(name => {
      const all = groups.map(({ runs }) => runs.flatMap(run => valuesOf(run)[name] ?? []))
      const most = all.flat().reduce((most, value) => Math.max(most, value), 0)
      const lines = all.map(values => ({ points: cumulative(values) }))
      return panel(`${name}: per cent that are no more (${all.flat().length})`, lines, most, '')
    })
  const compared =
    groups.length < 2
      ? []
      : names.map(name =>
          spreads(
            `${name}: mean of runs, and their standard deviation`,
            figures.filter(({ of }) => of === name).map(figure => ({ ...figure, name: figure.group })),
          ),
        )
  return picture(groups.map(({ name }) => name).join(', '), [
    legend(groups),
    overTime('nodes that are up', 'up'),
    overTime('properties that do not hold', 'violated'),
    ...distributions,
    ...compared,
  ])
}

const legend = (groups: readonly Group[]): string[] =>
  groups.map(({ name, runs }, index) =>
    label(
      64 + Math.floor(index / 8) * 320,
      20 + (index % 8) * 17,
      'start',
      `${name}${runs.length > 1 ? ` (${runs.length} runs)` : ''}`,
      colourOf(index),
    ),
  )

/** At each look of any run, what the last look of each run before it saw. */
const meanLine = (runs: readonly RunSeries[], column: string): PlotLine => {
  const looks = runs.map(({ series }) => (series.looks ?? []).map(row => [row.s, Number(row[column])] as const))
  const times = [...new Set(looks.flatMap(each => each.map(([s]) => s)))].sort((one, other) => one - other)
  const next = looks.map(() => 0)
  const seen = times.map(s => {
    const values = looks.flatMap((each, run) => {
      while (next[run]! < each.length && each[next[run]!]![0] <= s) next[run]! += 1
      return next[run] === 0 ? [] : [each[next[run]! - 1]![1]]
    })
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    return { s, mean, least: Math.min(...values), most: Math.max(...values) }
  })
  return {
    points: seen.map(({ s, mean }) => [s, mean]),
    ...(runs.length > 1 && { band: seen.map(({ s, least, most }) => [s, least, most] as const) }),
  }
}
