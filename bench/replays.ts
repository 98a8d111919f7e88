/**
 * Whether a violation can be repeated: executes its shrunk schedule twenty times, each time by a new command.
 * Usage: replays.js [CONFIG], liferaft's by default.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { row } from './table.ts'

interface Printed {
  readonly verdict: string
  readonly property: string | null
  readonly steps: number
  readonly schedule: readonly string[]
  readonly trace: string | null
  readonly seconds: number
}

const replays = 20
const root = join(import.meta.dirname, '../..')
const config = process.argv[2] ?? join(root, 'examples/liferaft/lastnail.config.ts')

/** The last line that the command prints; its progress is shown. */
const lastnail = async (...args: readonly string[]): Promise<Printed> => {
  const { stdout } = await execa(process.execPath, [join(root, 'bin/lastnail.js'), ...args, '--json'], {
    reject: false,
    stderr: 'inherit',
  })
  return JSON.parse(stdout.split('\n').at(-1)!)
}

const out = mkdtempSync(join(tmpdir(), 'lastnail-bench-'))
try {
  const found = await lastnail('check', config, '--for', '120s', '--out', out)
  if (found.verdict !== 'violated') throw new Error(`expected a violation of ${config}, found it ${found.verdict}`)
  row(`found and shrunk to ${found.schedule.length} steps: ${found.property}`, found.seconds.toFixed(0), 'seconds')
  let same = 0
  for (let count = 0; count < replays; count++) {
    const { verdict, property, steps } = await lastnail('replay', found.trace!)
    if (verdict === 'violated' && property === found.property && steps === found.schedule.length) same += 1
  }
  row('replays with the same violation after the same step', `${same}`, `of ${replays}`)
  if (same < replays) process.exitCode = 1
} finally {
  rmSync(out, { recursive: true, force: true })
}
