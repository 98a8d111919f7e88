/** Checks every bug of the corpus, and every system without one, under the same budget: `npm run bench:corpus -- --help`. */
import { join } from 'node:path'
import { Command } from 'commander'
import { comparison, figuresOf, summary, table } from './report.ts'
import { type Result, Results } from './results.ts'
import { type Bug, bugs, systems } from './rows.ts'
import { runRow } from './run-row.ts'

interface Options {
  readonly row?: readonly string[]
  readonly system?: string
  readonly for: number
  readonly search: readonly string[]
  readonly workers?: string
  readonly out: string
  readonly again?: boolean
  readonly bugs: boolean
  readonly correct: boolean
  readonly json?: boolean
}

interface Row {
  readonly name: string
  readonly system: string
  readonly bug: Bug | null
}

const isWanted = ({ row, system }: Options, bug: Pick<Bug, 'id' | 'system'>) =>
  (row === undefined || row.includes(bug.id)) && (system === undefined || bug.system.endsWith(system))

const rowsOf = (options: Options): Row[] => [
  ...(options.bugs ? bugs : [])
    .filter(bug => isWanted(options, bug))
    .map(bug => ({ name: bug.id, system: bug.system, bug })),
  ...(options.correct ? systems : [])
    .filter(system => isWanted(options, { id: 'correct', system }))
    .map(system => ({ name: `correct-${system}`, system, bug: null })),
]

const runRows = async (rows: readonly Row[], search: string, results: Results, options: Options): Promise<void> => {
  for (const [index, { name, system, bug }] of rows.entries()) {
    if (results.get(name) && !options.again) continue
    console.error(`${search}, ${index + 1} of ${rows.length}: ${name}`)
    const { workers, out } = options
    const result = await runRow(system, bug, { search, seconds: options.for, workers, out })
    const verdict = result.outcome?.verdict ?? `exit ${result.exitCode}`
    console.error(`  ${verdict} after ${result.seconds} s: ${result.message}`)
    results.put(name, result)
  }
}

const report = (rows: readonly Row[], results: Results): void => {
  const done = rows.flatMap(({ name, bug }) => {
    const result = results.get(name)
    return result ? [{ bug, result }] : []
  })
  const found = done.filter((row): row is { bug: Bug; result: Result } => row.bug !== null)
  const correct = done.filter(({ bug }) => bug === null).map(({ result }) => result)
  console.log(table(found))
  console.log(summary(found, correct))
}

const run = async (options: Options): Promise<void> => {
  const rows = rowsOf(options)
  const all = options.search.map(search => ({ search, results: new Results(join(options.out, search)) }))
  for (const { search, results } of all) await runRows(rows, search, results, options)
  if (options.json) {
    const done = all.flatMap(({ search, results }) =>
      rows.flatMap(({ name, bug }) => {
        const result = results.get(name)
        return result ? [{ id: name, search, ...figuresOf(bug, result) }] : []
      }),
    )
    return console.log(JSON.stringify(done))
  }
  for (const { search, results } of all) {
    console.log(`\n${search}:`)
    report(rows, results)
  }
  if (all.length < 2) return
  const compared = rows.flatMap(({ name, bug }) =>
    bug ? [{ bug, results: all.map(({ results }) => results.get(name)) }] : [],
  )
  console.log()
  console.log(comparison(options.search, compared))
}

await new Command('bench:corpus')
  .description('checks every bug of the corpus, and every system without one')
  .option('--row <id...>', 'these bugs alone')
  .option('--system <name>', 'one system alone')
  .option('--for <seconds>', 'of each search', Number, 300)
  .option('--search <how...>', 'as of lastnail check, or plain: random testing without control', ['auto'])
  .option('--workers <n>', 'as of lastnail check')
  .option('--no-bugs', 'only the systems without a bug')
  .option('--no-correct', 'only the bugs')
  .option('--out <directory>', 'where results are kept, for a run that is stopped and continued', '.lastnail/corpus')
  .option('--again', 'runs what has a result already')
  .option('--json', 'prints the results as one JSON array')
  .action(run)
  .parseAsync()
