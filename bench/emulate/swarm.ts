/** The same swarm at the three paces: 25 nodes of RandTree, of which twelve leave and join, for a minute. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { row, whole } from '../table.ts'
import { runCommand } from './run-command.ts'

const config = join(import.meta.dirname, 'crystalball.config.js')
const directory = mkdtempSync(join(tmpdir(), 'lastnail-swarm-'))

interface Swarm {
  readonly seconds: number
  readonly joins: { readonly count: number; readonly p50: number; readonly p90: number } | null
  readonly packets: { readonly forwarded: number; readonly bytes: number }
  readonly inconsistent: number
  readonly looks: number
  readonly late?: { readonly p50: number; readonly p99: number }
}

try {
  for (const pace of ['virtual', 'real', 'native']) {
    const options = ['--pace', pace, '--for', '1m', '--out', directory]
    const { result } = runCommand(['emulate', config, ...options], { COUNT: '25', CHURN: '12' })
    const { seconds, joins, packets, inconsistent, looks, late } = result as unknown as Swarm
    row(`${pace}: nodes that joined`, whole(joins?.count ?? 0), '')
    row('  time to join: p50', whole(joins?.p50 ?? 0), 'ms')
    row('  p90', whole(joins?.p90 ?? 0), 'ms')
    row('  packets', whole(packets.forwarded), '')
    row('  bytes', (packets.bytes / 1e6).toFixed(2), 'MB')
    row('  looks at inconsistent states', `${inconsistent} of ${looks}`, '')
    if (late) row('  later than due: p50, p99', `${late.p50.toFixed(1)}, ${late.p99.toFixed(1)}`, 'ms')
    row('  the command', seconds.toFixed(1), 's')
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
