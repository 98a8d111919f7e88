/**
 * How many executions a bounded search needs to the same depth: if it executes every order of steps, if it merges states
 * by fingerprints, if it executes one order of steps that commute (sleep sets), and with both.
 * Usage: reduction.js [DEPTH], 4 by default.
 */

import { OwnCell } from '../checker/cells/cell.ts'
import { Cells } from '../checker/cells/cells.ts'
import { BoundedSearch } from '../checker/searches/bounded.ts'
import { startAfter } from '../checker/system/start.ts'
import type { ResolvedSystem } from '../harness/config/config.ts'
import { loadSystem } from './corpus/load-system.ts'
import { row, whole } from './table.ts'
import { withCluster } from './with-cluster.ts'

const depthMax = Number(process.argv[2] ?? 4)
const systems = ['transport', 'corpus/lockserver', 'corpus/paxos'] as const

/** Executions to the depth. */
const search = (system: ResolvedSystem, fingerprint: 'observed' | 'none', everyOrder: boolean): Promise<number> =>
  withCluster({ ...system, fingerprint }, async cluster => {
    const cells = Cells.of([new OwnCell(cluster, {}, { allowFindings: true })])
    const bounded = new BoundedSearch({ depthMax, everyOrder })
    for (let prefix = bounded.next(); prefix !== undefined; prefix = bounded.next())
      bounded.arrive(prefix, await cells.run({ start: startAfter(prefix.labels) }))
    return cells.counts.executions
  })

for (const name of systems) {
  const system = await loadSystem(name)
  const every = await search(system, 'none', true)
  const fingerprints = await search(system, 'observed', true)
  const orders = await search(system, 'none', false)
  const both = await search(system, 'observed', false)
  row(`${name}: executions to depth ${depthMax}, every order`, whole(every), '')
  row('  states told apart by fingerprints: times fewer', (every / fingerprints).toFixed(1), '')
  row('  one order of steps that commute: times fewer', (every / orders).toFixed(1), '')
  row('  both: times fewer', (every / both).toFixed(1), '')
}
process.exit()
