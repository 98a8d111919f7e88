/** Checks every bug of the corpus, and every system without one, under the same budget: `npm run bench:corpus -- --help`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { summary, table } from './report.ts'
import { Results } from './results.ts'
import { type Bug, bugs, systems } from './rows.ts'
import { runRow } from './run-row.ts'

interface Options {
  readonly row?: string
  readonly system?: string
  readonly for: string
  readonly search: string
  readonly workers?: string
  readonly out: string
  readonly again?: boolean
  readonly bugs: boolean
  readonly correct: boolean
  readonly json?: boolean
}

const examples = join(import.meta.dirname, '../../../examples')

const isWanted = ({ row, system }: Options, bug: Pick<Bug, 'id' | 'system'>) =>
  (row === undefined || row === bug.id) && (system === undefined || bug.system.endsWith(system))

const run = async (options: Options): Promise<void> => {
  const results = new Results(options.out)
  const rows = options.bugs ? bugs.filter(bug => isWanted(options, bug)) : []
  const correct = options.correct ? systems.filter(system => isWanted(options, { id: 'correct', system })) : []
  const wanted = [
    ...rows.map(({ id, system }) => ({ name: id, system, bug: id })),
    ...correct.map(system => ({ name: `correct-${system}`, system, bug: null })),
  ].filter(({ system }) => existsSync(join(examples, system, 'lastnail.config.ts')))
  for (const [index, { name, system, bug }] of wanted.entries()) {
    if (results.get(name) && !options.again) continue
    console.error(`${index + 1} of ${wanted.length}: ${name}`)
    const result = await runRow(system, bug, { ...options, duration: options.for, workers: options.workers })
    console.error(
      `  ${result.outcome?.verdict ?? `exit ${result.exitCode}`} after ${result.seconds} s: ${result.message}`,
    )
    results.put(name, result)
  }
  const done = rows.flatMap(bug => ({ bug, result: results.get(bug.id) })).filter(hasResult)
  const clean = correct.flatMap(system => results.get(`correct-${system}`) ?? [])
  if (options.json) return console.log(JSON.stringify([...done.map(({ result }) => result), ...clean]))
  console.log(table(done))
  console.log(summary(done, clean))
}

const hasResult = <Row extends { result: unknown }>(
  row: Row,
): row is Row & { result: Exclude<Row['result'], undefined> } => row.result !== undefined

await new Command('bench:corpus')
  .description('checks every bug of the corpus, and every system without one')
  .option('--row <id>', 'one bug alone')
  .option('--system <name>', 'one system alone')
  .option('--for <duration>', 'time of each search', '5m')
  .option('--search <how>', 'as of lastnail check', 'auto')
  .option('--workers <n>', 'as of lastnail check')
  .option('--no-bugs', 'only the systems without a bug')
  .option('--no-correct', 'only the bugs')
  .option('--out <directory>', 'where results are kept, for a run that is stopped and continued', '.lastnail/corpus')
  .option('--again', 'runs what has a result already')
  .option('--json', 'prints the results as one JSON array')
  .action(run)
  .parseAsync()
