/**
 * Whether programs that use a facility rightly are held: each kind is checked for ten seconds.
 *
 * `npm run bench:correct` measures all; words of a name select some, `--seconds 30` another time, and `--faults silent,power` which
 * faults may happen once in each execution.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkConfig } from '../cli/check/check.ts'
import { configOf } from '../cli/config/load-config.ts'
import { type Facility, facilities, systemOf } from '../test/services/correct/facilities.ts'
import { packageRoot } from './corpus/package-root.ts'
import { beginnings } from './services/columns.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '10' }, faults: { type: 'string', default: '' } },
})

const kinds = values.faults.split(',').filter(Boolean)
const faults = Object.fromEntries(kinds.filter(kind => kind !== 'preempt').map(kind => [kind, 1]))
const threads = kinds.includes('preempt') ? 1 : 0

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** The row of a facility: its verdict, executions, steps, and how executions began. */
const rowOf = async (facility: Facility): Promise<string> => {
  if (!has(facility.needs)) return `not here: ${facility.needs}`
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-correct-'))
  try {
    const system = systemOf(facility, { root: packageRoot, directory: join(directory, 'built'), faults, threads })
    const milliseconds = 1000 * Number(values.seconds)
    const { verdict } = await checkConfig(configOf(system), { milliseconds, out: join(directory, 'out') })
    const { message, executions, steps, notes } = verdict
    const why = verdict.verdict === 'held' ? '' : ` | ${message}`
    return `${verdict.verdict} | ${executions} executions | ${steps} steps | ${beginnings(notes)}${why}`
  } catch (error) {
    return `failed | ${(error as Error).message}`
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const isAsked = ({ name }: Facility) => positionals.length === 0 || positionals.some(word => name.includes(word))

for (const facility of facilities.filter(isAsked)) console.log(`${facility.name.padEnd(32)} | ${await rowOf(facility)}`)
