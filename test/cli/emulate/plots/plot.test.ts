import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { cumulative } from '../../../../cli/emulate/plots/panel.ts'
import { describePlotted, plotRuns } from '../../../../cli/emulate/plots/plot.ts'

/** Directories of runs with these series, and a place for the plot. */
const runsWith = (
  ...runs: readonly { readonly system: string; readonly seed: number; readonly ms: readonly number[] }[]
) => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-plot-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const paths = runs.map(({ system, seed, ms }, index) => {
    const path = join(directory, String(index))
    mkdirSync(path)
    const series = {
      looks: [
        { s: 0, up: 1, violated: 0 },
        { s: 1, up: 1 + seed, violated: 1 },
      ],
      joins: [],
      happenings: [],
      recoveries: [],
      calls: [],
      lookup: ms.map((ms, s) => ({ s, node: 'a', ms })),
      run: [{ s: 2, system, seed }],
    }
    writeFileSync(join(path, 'series.json'), JSON.stringify(series))
    return path
  })
  return { directory, paths, out: join(directory, 'plot.svg') }
}

test('runs that differ in their seed are one: the mean of their means, and how far these spread', () => {
  const { paths, out } = runsWith(
    { system: 'slow', seed: 1, ms: [10, 20] },
    { system: 'slow', seed: 2, ms: [35] },
    { system: 'fast', seed: 1, ms: [4] },
  )
  const plotted = plotRuns(paths, { bySeed: true, out })
  expect(plotted.figures).toEqual([
    { group: 'slow', of: 'lookup ms', runs: 2, values: 3, mean: 25, deviation: Math.sqrt(200) },
    { group: 'fast', of: 'lookup ms', runs: 1, values: 1, mean: 4, deviation: 0 },
  ])
  expect(describePlotted(plotted)).toEqual([
    'slow: lookup ms 25 in the mean ± 14.1 over 2 runs (3)',
    'fast: lookup ms 4 in the mean (1)',
    `written: ${out}`,
  ])
  const drawn = readFileSync(out, 'utf8')
  for (const text of [
    'slow (2 runs)',
    'nodes that are up',
    'lookup ms: per cent that are no more (4)',
    'standard deviation',
  ])
    expect(drawn).toContain(text)
  // The band of the two runs of one system, in each of the two panels over time.
  expect(drawn.match(/fill-opacity/g)).toHaveLength(2)
})

test('without --by each run is drawn by itself, and two names of a directory are one run', () => {
  const { directory, paths, out } = runsWith({ system: 'a', seed: 1, ms: [1] }, { system: 'a', seed: 7, ms: [3] })
  symlinkSync('0', join(directory, 'latest'))
  const { figures } = plotRuns([...paths, join(directory, 'latest'), join(directory, '1/series.json')], {
    bySeed: false,
    out,
  })
  expect(figures.map(({ group, runs, mean }) => [group, runs, mean])).toEqual([
    ['a, seed 1', 1, 1],
    ['a, seed 7', 1, 3],
  ])
})

test('a directory without series is refused with the option that writes them', () => {
  const { directory, out } = runsWith()
  expect(() => plotRuns([directory], { bySeed: true, out })).toThrow(
    `cannot read ${directory}/series.json, which emulate --series writes: no such file`,
  )
  writeFileSync(join(directory, 'series.json'), '{"looks": []}')
  expect(() => plotRuns([directory], { bySeed: true, out })).toThrow(
    'series.json: expected what emulate --series writes',
  )
})

test('a distribution says which per cent is no larger', () => {
  expect(cumulative([3, 1, 2, 2])).toEqual([
    [1, 25],
    [2, 50],
    [2, 75],
    [3, 100],
  ])
})
