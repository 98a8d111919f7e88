/**
 * How much sooner two cells have done the same executions as one: the same check with one worker and with two, by turns.
 * Usage: cells.js [EXECUTIONS], 150 by default.
 */
import { join } from 'node:path'
import { execa } from 'execa'
import type { Outcome } from '../cli/outcome.ts'
import { configOf, packageRoot } from './corpus/package-root.ts'
import { median, row, whole } from './table.ts'

const executions = process.argv[2] ?? '150'
const rounds = 3
const systems = ['transport', 'corpus/paxos', 'corpus/randtree'] as const

const check = async (name: string, workers: number): Promise<Outcome> => {
  const options = ['--executions', executions, '--workers', String(workers), '--json']
  const { stdout } = await execa(
    process.execPath,
    [join(packageRoot, 'bin/lastnail.js'), 'check', configOf(name), ...options],
    { reject: false, stdin: 'ignore' },
  )
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!)
}

for (const name of systems) {
  const figures: { one: Outcome; two: Outcome }[] = []
  for (let round = 0; round < rounds; round++) figures.push({ one: await check(name, 1), two: await check(name, 2) })
  const perMinute = (of: (figure: (typeof figures)[number]) => Outcome) =>
    median(figures.map(figure => (60 * of(figure).executions) / of(figure).seconds))
  const [one, two] = [perMinute(({ one }) => one), perMinute(({ two }) => two)]
  row(`${name}: executions a minute in one cell`, whole(one), '')
  row(`${name}: in two`, whole(two), '')
  row('  two to one', (two / one).toFixed(2), '')
}
