/** How much of a system's time passes in a second at the pace virtual, and what starting it takes, with 5 to 100 nodes of Node.js. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readTrace } from '../../checker/trace/read.ts'
import { row, whole } from '../table.ts'

const command = join(import.meta.dirname, '../../../bin/lastnail.js')
const config = join(import.meta.dirname, 'speed.config.js')
const directory = mkdtempSync(join(tmpdir(), 'lastnail-speed-'))

try {
  for (const count of [5, 20, 60, 100]) {
    const { stdout } = spawnSync(process.execPath, [command, 'emulate', config, '--out', directory, '--json'], {
      env: { ...process.env, COUNT: String(count) },
      encoding: 'utf8',
    })
    const { trace, seconds, virtualSeconds, steps } = JSON.parse(stdout.trimEnd().split('\n').at(-1)!)
    const startS = readTrace(trace).steps[0]!.durationUs / 1e6
    row(`${count} nodes: of their seconds in one`, (virtualSeconds / (seconds - startS)).toFixed(1), '')
    row('  steps', whole(steps / (seconds - startS)), 'a second')
    row('  steps in a second of theirs', whole(steps / virtualSeconds), '')
    row('  the start', startS.toFixed(2), 's')
    row('  of it for each node', (startS / count).toFixed(3), 's')
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
