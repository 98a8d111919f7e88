/** The churn experiment at both paces: how often the nodes' states were inconsistent, and how long joins and recovery took. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const config = join(root, 'examples/churn/lastnail.config.ts')

/** In milliseconds. */
interface Spread {
  readonly count: number
  readonly p50: number
  readonly max: number
}

interface Found {
  readonly looks: number
  readonly inconsistent: number
  readonly properties: readonly { readonly outages: number; readonly longestMs: number }[]
  readonly joins?: Spread
  readonly recovery: Spread
  readonly seconds: number
}

const directory = mkdtempSync(join(tmpdir(), 'lastnail-experiment-'))

const run = (pace: string, seed: number): Found => {
  const args = [config, '--pace', pace, '--seed', String(seed), '--out', directory, '--json']
  // A run may have met a violation, and then its exit code is not 0.
  const { stdout } = spawnSync(process.execPath, [join(root, 'bin/lastnail.js'), 'emulate', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return JSON.parse(stdout)
}

const inSeconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1)
const spread = (found: Spread | undefined) =>
  found === undefined || found.count === 0 ? '–' : `${found.count}: ${inSeconds(found.p50)}, ${inSeconds(found.max)}`

const columns = ['pace', 'seed', 'looks', 'inconsistent', 'outages', 'longest, s', 'joins: median, longest, s']
console.log(`| ${[...columns, 'recoveries: median, longest, s', 'took, s'].join(' | ')} |`)
try {
  for (const [pace, seed] of [...[1, 2, 3].map(seed => ['virtual', seed] as const), ['native', 1] as const]) {
    const { looks, inconsistent, properties, joins, recovery, seconds } = run(pace, seed)
    const outages = properties.reduce((sum, each) => sum + each.outages, 0)
    const longest = inSeconds(Math.max(...properties.map(({ longestMs }) => longestMs)))
    const cells = [pace, seed, looks, inconsistent, outages, longest, spread(joins), spread(recovery)]
    console.log(`| ${[...cells, seconds.toFixed(0)].join(' | ')} |`)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
