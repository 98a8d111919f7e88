import { join } from 'node:path'
import { Writing, writeWhole } from '../../checker/system/written.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import type { Run } from '../../harness/emulation/run.ts'
import { OutputFiles } from './output-files.ts'
import { drawRun } from './plots/drawn-run.ts'
import { MeasuredLines, seriesOf, writeSeries } from './series.ts'

/** Path of the trace in the directory of a run. */
export const traceIn = (directory: string): string => join(directory, 'run.trace')

interface RunEnd {
  /** Duration by the clock of the run. */
  readonly seconds: number
  readonly seed: number
  readonly withSeries: boolean | undefined
}

/** The files of a run beside its trace: what nodes print, while it goes on; at its end the plot, and the series. */
export class RunFiles {
  readonly #directory: string
  readonly #name: string
  readonly #outputs: OutputFiles
  readonly #lines: MeasuredLines

  /** @throws NotWritten */
  constructor(directory: string, { name, nodes, emulation }: ResolvedSystem) {
    this.#directory = directory
    this.#name = name
    this.#outputs = new OutputFiles(
      directory,
      nodes.map(node => node.name),
    )
    this.#lines = new MeasuredLines(emulation.measure)
  }

  /**
   * Adds what nodes printed, and measures its lines.
   *
   * @throws NotWritten
   */
  print(outputs: Parameters<OutputFiles['append']>[0], atMs: number): void {
    this.#lines.see(this.#outputs.append(outputs, atMs))
  }

  /**
   * Writes the plot, and the series if they are asked for. Returns the paths, null for what was not written.
   */
  end(
    run: Run,
    { seconds, seed, withSeries = false }: RunEnd,
  ): { readonly plot: string | null; readonly series: string | null; readonly problem: string | undefined } {
    const plot = join(this.#directory, 'run.svg')
    const writing = new Writing()
    const drawn = drawRun(run, this.#name, seconds)
    writing.try(() => writeWhole('the plot', plot, drawn))
    const isDrawn = writing.problem === undefined
    const series = withSeries
      ? writeSeries(
          this.#directory,
          { ...seriesOf(run), ...this.#lines.series, run: [{ s: seconds, system: this.#name, seed }] },
          writing,
        )
      : null
    return { plot: isDrawn ? plot : null, series, problem: writing.problem }
  }
}
