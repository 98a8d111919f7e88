/**
 * Why the bounded search leaves out orders by sleep sets, and not by dynamic partial-order reduction. For random systems of
 * three nodes in memory it counts the visible states within a depth, and the executions that each search needs to see them.
 * Usage: partial-orders.js [DEPTH] [ACTS], 5 and 5 by default. ACTS is how often each node acts by itself.
 */

import fc from 'fast-check'
import { OwnCell } from '../checker/cells/cell.ts'
import { Cells } from '../checker/cells/cells.ts'
import { BoundedSearch } from '../checker/searches/bounded.ts'
import { startAfter } from '../checker/system/start.ts'
import { type Office, offices, type Post, post } from '../test/checker/systems/post.ts'
import { Dpor } from './dpor.ts'
import { row, whole } from './table.ts'

const [depth, acts] = [Number(process.argv[2] ?? 5), Number(process.argv[3] ?? 5)]
const nodes = ['n0', 'n1', 'n2']
const show = ({ states }: Post, node: string) => String(states[nodes.indexOf(node)])

interface Searched {
  readonly executions: number
  readonly seen: ReadonlySet<string>
}

const bounded = async (office: Office, everyOrder: boolean): Promise<Searched> => {
  const system = post(office, { acts, fingerprints: false })
  const cells = Cells.of([new OwnCell(system, {})])
  const search = new BoundedSearch({ depthMax: depth, everyOrder })
  const seen = new Set<string>()
  for (let prefix = search.next(); prefix !== undefined; prefix = search.next()) {
    search.arrive(prefix, await cells.run({ start: startAfter(prefix.labels) }))
    seen.add(nodes.map(node => show(system.state(), node)).join(' '))
  }
  return { executions: cells.counts.executions, seen }
}

const reduced = async (office: Office, isComplete: boolean): Promise<Searched> => {
  const search = new Dpor(post(office, { acts }), { depth, show, nodes, isComplete })
  await search.explore()
  return search
}

const searches = {
  'every order': office => bounded(office, true),
  'sleep sets': office => bounded(office, false),
  DPOR: office => reduced(office, false),
  'DPOR that loses nothing': office => reduced(office, true),
} satisfies Record<string, (office: Office) => Promise<Searched>>

const systems = fc.sample(offices, { numRuns: 20, seed: 7 })
for (const [name, search] of Object.entries(searches)) {
  let [executions, lossy] = [0, 0]
  for (const office of systems) {
    const { seen } = await bounded(office, true)
    const found = await search(office)
    executions += found.executions
    if ([...seen].some(shown => !found.seen.has(shown))) lossy += 1
  }
  row(`${name}: executions to depth ${depth}`, whole(executions), '')
  row('  systems of which a state was lost', whole(lossy), `of ${systems.length}`)
}
