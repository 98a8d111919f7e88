import { type Command, Option } from 'commander'
import { writeText } from '../../../topologies/formats/file.ts'
import { print } from '../../command/print.ts'
import { type Figure, figuresOf, groupsOf } from './compare.ts'
import { drawGroups } from './draw.ts'
import { inShort } from './panel.ts'
import { readSeries, seriesFile } from './runs.ts'

/** What `plot` prints. */
export interface Plotted {
  readonly figures: readonly Figure[]
  /** Path of the plot. */
  readonly plot: string
}

/** Adds `plot RUN…`. */
export const addPlotCommand = (root: Command): void => {
  root
    .command('plot')
    .description('draws several emulated runs in one plot')
    .argument('<runs...>', 'directories of runs that were emulated with --series')
    .addOption(
      new Option('--by <what>', 'seed: runs of one system are drawn as their mean and spread').choices(['seed']),
    )
    .option('--out <file>', 'file to write', 'plot.svg')
    .option('--json', 'prints one JSON object as the last line')
    .action((paths: readonly string[], { by, out, json }: { by?: 'seed'; out: string; json?: boolean }) => {
      const plotted = plotRuns(paths, { bySeed: by === 'seed', out })
      print(json ? JSON.stringify(plotted) : describePlotted(plotted))
    })
}

/**
 * Draws runs in one plot.
 *
 * @param paths directories of runs
 *
 * @throws UsageError, TopologyError
 */
export const plotRuns = (
  paths: readonly string[],
  { bySeed, out }: { readonly bySeed: boolean; readonly out: string },
): Plotted => {
  const groups = groupsOf([...new Set(paths.map(seriesFile))].map(readSeries), bySeed)
  const figures = figuresOf(groups)
  writeText(out, drawGroups(groups, figures))
  return { figures, plot: out }
}

export const describePlotted = ({ figures, plot }: Plotted): string[] => [
  ...figures.map(
    ({ group, of, mean, deviation, runs, values }) =>
      `${group}: ${of} ${inShort(mean)} in the mean` +
      `${runs > 1 ? ` ± ${inShort(deviation)} over ${runs} runs` : ''} (${values})`,
  ),
  `written: ${plot}`,
]
