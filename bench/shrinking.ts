/**
 * How many steps shrinking leaves of the schedules that a check finds, in examples and rows of the corpus, by this version or by
 * another one that is built in a clone: `node dist/bench/shrinking.js [--root CLONE]`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { readTrace } from '../checker/trace/read.ts'
import type { Verdict } from '../checker/verdict/verdict.ts'
import type { CheckOutcome } from '../cli/check/outcome.ts'
import { packageRoot } from './corpus/package-root.ts'
import { bugs } from './corpus/rows.ts'
import { median } from './table.ts'

interface Options {
  readonly root: string
  readonly row?: readonly string[]
  readonly for: string
  readonly workers: string
}

/** The rows that are checked by default. */
const rows = [
  'stale-read',
  'transport-stale-syn',
  'randtree-forceroot',
  'brokentree-loop',
  'pastry-row',
  'chord-order',
  'paxos-forget-promise',
  'lock-livelock',
  'store-replica-race',
] as const

interface Shrunk {
  readonly row: string
  readonly verdict: string
  /** Steps of the execution in which the violation was first seen. */
  readonly found: number | undefined
  readonly left: number
  readonly executionsToFind: number | undefined
  /** All executions, including those that examined the violation. */
  readonly executions: number
}

const systemOf = (row: string): string => bugs.find(({ id }) => id === row)?.system ?? 'register'

const checkRow = async (row: string, options: Options, out: string): Promise<Shrunk> => {
  const { root, workers } = options
  const property = bugs.find(({ id }) => id === row)?.property
  const { stdout, stderr } = await execa(
    process.execPath,
    [
      join(root, 'bin/lastnail.js'),
      ...['check', join(root, 'examples', systemOf(row), 'lastnail.config.ts'), '--json', '--out', out],
      ...['--for', options.for, '--workers', workers, ...(property ? ['--property', property] : [])],
    ],
    { env: { BUG: row }, reject: false, stdin: 'ignore' },
  )
  const last = stdout.trimEnd().split('\n').at(-1) ?? ''
  if (!last.startsWith('{')) throw new Error(`${row}: ${stderr}`)
  const { verdict, schedule, executions, trace }: CheckOutcome = JSON.parse(last)
  const discovery = trace === null ? undefined : (readTrace(trace).end?.verdict as Verdict | undefined)?.discovery
  const [found, executionsToFind] = [discovery?.steps, discovery?.execution]
  return { row, verdict, found, left: schedule.length, executionsToFind, executions }
}

const run = async (options: Options): Promise<void> => {
  const out = mkdtempSync(join(tmpdir(), 'lastnail-shrinking-'))
  const left: number[] = []
  try {
    console.log('| row | verdict | found in steps | left | executions until then | in all |\n|---|---|---|---|---|---|')
    for (const each of options.row ?? rows) {
      const shrunk = await checkRow(each, options, out)
      const { row, verdict, found, executionsToFind, executions } = shrunk
      console.log(`| ${[row, verdict, found, shrunk.left, executionsToFind, executions].join(' | ')} |`)
      if (verdict === 'violated') left.push(shrunk.left)
    }
    console.log(`\nmedian of what is left: ${median(left)} steps, of ${left.length}`)
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

await new Command('shrinking')
  .description('how many steps shrinking leaves of what a check finds')
  .option('--root <directory>', 'a built clone of the version to be measured', packageRoot)
  .option('--row <id...>', 'some rows alone')
  .option('--for <duration>', 'of each search', '120s')
  .option('--workers <n>', 'as of lastnail check', '2')
  .action(run)
  .parseAsync()
