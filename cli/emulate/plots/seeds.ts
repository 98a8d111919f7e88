import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import PQueue from 'p-queue'
import { runCommand } from '../../command/another-process.ts'
import { whileUninterrupted } from '../../session/interrupt.ts'
import { describePlotted, type Plotted, plotRuns } from './plot.ts'

/** Runs that differ in their seed alone. */
export interface Seeds {
  /** In the order of their seeds. */
  readonly runs: readonly SeedRun[]
  /** All in one plot; null if none came to an end. */
  readonly plotted: Plotted | null
}

export interface SeedRun {
  readonly seed: number
  /** `error` if it could not be run. */
  readonly verdict: string
  readonly message: string
  readonly exitCode: number
  /** Paths of its trace and its series; null if it has none. */
  readonly trace: string | null
  readonly series: string | null
}

/**
 * Emulates a system with several seeds, each in a process of its own and as many at once as there are CPUs, and draws
 * them in one plot.
 *
 * @param args of this command, without what each run has a value of its own for
 *
 * @param seeds the first one, and how many
 */
export const emulateSeeds = async (
  args: readonly string[],
  { first, count, out }: { readonly first: number; readonly count: number; readonly out: string },
): Promise<Seeds> => {
  const queue = new PQueue({ concurrency: availableParallelism() })
  const seeds = Array.from({ length: count }, (_, index) => first + index)
  const runs = await whileUninterrupted(async signal => {
    const started = seeds.map(seed =>
      queue.add(async () => {
        const run = signal.aborted ? notBegun(seed) : await emulateSeed(args, seed, signal)
        process.stderr.write(`lastnail: seed ${seed}: ${run.verdict}: ${run.message}\n`)
        return run
      }),
    )
    return Promise.all(started)
  })
  const places = runs.flatMap(({ series }) => series ?? [])
  return { runs, plotted: places.length === 0 ? null : plotRuns(places, { bySeed: true, out: join(out, 'seeds.svg') }) }
}

const notBegun = (seed: number): SeedRun => ({
  seed,
  verdict: 'undetermined',
  message: 'not begun, since it was interrupted',
  exitCode: 2,
  trace: null,
  series: null,
})

const emulateSeed = async (args: readonly string[], seed: number, signal: AbortSignal): Promise<SeedRun> => {
  const all = [...args, '--seed', String(seed), '--series', '--json']
  const { code, stdout, stderr } = await runCommand(all, signal)
  const exitCode = code ?? 70
  const printed = stdout.trim().split('\n').at(-1)!
  const {
    verdict = 'error',
    message,
    trace = null,
    series = null,
    error,
  } = printed.startsWith('{') ? JSON.parse(printed) : {}
  const why = message ?? error?.message ?? stderr.trim().split('\n').at(-1) ?? ''
  return { seed, verdict, message: why, exitCode, trace, series }
}

export const describeSeeds = ({ runs, plotted }: Seeds): string[] => [
  ...[...new Set(runs.map(({ verdict }) => verdict))].map(verdict => {
    const those = runs.filter(run => run.verdict === verdict)
    return `${verdict}: ${those.length} of ${runs.length} (seed ${those.map(({ seed }) => seed).join(', ')})`
  }),
  ...(plotted ? describePlotted(plotted) : []),
]

/** A violation counts more than a run that came to nothing. */
export const exitCodeOfSeeds = ({ runs }: Seeds): number => {
  const codes = runs.map(({ exitCode }) => exitCode)
  return codes.includes(1) ? 1 : Math.max(...codes)
}
