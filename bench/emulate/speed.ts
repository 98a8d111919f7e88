/**
 * How much of a system's time passes in one second at the pace virtual, how long its start takes, and how large its trace is: with 5 to
 * 100 nodes of Node.js, and with 500 of a small static program, which this builds.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readTrace } from '../../checker/trace/read.ts'
import { row, whole } from '../table.ts'
import { runCommand } from './run-command.ts'

const root = join(import.meta.dirname, '../../..')
const directory = mkdtempSync(join(tmpdir(), 'lastnail-speed-'))

interface Run {
  readonly trace: string
  readonly seconds: number
  readonly virtualSeconds: number
  readonly steps: number
}

const measure = (what: string, config: string, count: number, environment: Readonly<Record<string, string>> = {}) => {
  const path = join(import.meta.dirname, `${config}.config.js`)
  const { result } = runCommand(['emulate', path, '--out', directory], { ...environment, COUNT: String(count) })
  if (result.error) throw new Error(JSON.stringify(result.error))
  const { trace, seconds, virtualSeconds, steps } = result as unknown as Run
  const startS = readTrace(trace).steps[0]!.durationUs / 1e6
  row(`${count} ${what}: of their seconds in one`, (virtualSeconds / (seconds - startS)).toFixed(1), '')
  row('  steps', whole(steps / (seconds - startS)), 'a second')
  row('  steps in a second of theirs', whole(steps / virtualSeconds), '')
  row('  the start', startS.toFixed(2), 's')
  row('  of it for each node', (startS / count).toFixed(3), 's')
  row('  of the trace, an hour of theirs', ((statSync(trace).size / virtualSeconds) * 0.0036).toFixed(1), 'MB')
}

try {
  for (const count of [5, 20, 60, 100]) measure('of Node.js', 'speed', count)
  const program = join(directory, 'program')
  execFileSync('cc', ['-O2', '-static', '-o', program, join(root, 'bench/service/heartbeat.c')])
  for (const count of [100, 500]) measure('static programs', 'heartbeat', count, { PROGRAM: program })
} finally {
  rmSync(directory, { recursive: true, force: true })
}
