import { sentenceOf } from '../../../checker/happening/happenings.ts'
import { describeLink, describeWay } from '../../../checker/happening/ways.ts'
import type { ResolvedSystem } from '../../../harness/config/config.ts'
import type { Run } from '../../../harness/emulation/run.ts'
import type { EmulationOptions } from '../../../harness/native/emulation.ts'
import { spareNames } from '../../../harness/native/spares.ts'
import { withNodes } from '../../../harness/timed/wiring.ts'
import { runPageOf } from '../../../report/run.ts'
import type { RunMap, SeenRun } from '../../../report/run-data.ts'
import { mapOf } from '../../../topologies/picture/map.ts'
import type { Topology } from '../../../topologies/topology.ts'
import type { Content } from '../../command/server.ts'

/** How many looks, and happenings, the page shows. */
const looksMax = 600
const happeningsMax = 20
/** How many links, the busiest first. */
const loadsMax = 20

/** The page of a run, made for whoever has its token. */
export const runPage = (
  { name: system, nodes }: Pick<ResolvedSystem, 'name' | 'nodes'>,
  { topology, place: places, seed }: Pick<EmulationOptions, 'topology' | 'place' | 'seed'>,
): ((token: string) => Content) => {
  const spares = spareNames(nodes, topology)
  const names = [...nodes.map(({ name }) => name), ...spares]
  const map =
    topology === undefined ? null : mapWith(nodes.length, spares, withNodes(topology, names, seed, places ?? {}))
  return token => {
    const { page, policy } = runPageOf({ system, token, map })
    return { type: 'text/html; charset=utf-8', body: page, policy }
  }
}

const mapWith = (given: number, spares: readonly string[], topology: Topology): RunMap => {
  const { lines, points } = mapOf(topology, spares)
  const clients = new Set(topology.nodes.filter(({ role }) => role === 'client').map(({ id }) => id))
  const attached = topology.links.flatMap(({ from, to }) =>
    clients.has(to) ? [[to, from]] : clients.has(from) ? [[from, to]] : [],
  )
  return { lines, points: Object.fromEntries(points), given, spares, attached: Object.fromEntries(attached) }
}

export const seenOf = (run: Run): SeenRun => {
  const { elapsedMs, nodes, groups, ways, links, planned, measurements, counts, timed } = run
  const { forwarded, bytes, ...others } = counts
  const ok = timed.filter(({ isOk }) => isOk).length
  return {
    ...{ elapsedMs: Math.round(elapsedMs), nodes, groups, forwarded, bytes },
    ways: ways.map(way => ({ text: describeWay(way), ends: [way.from, way.to], isCut: way.isCut === true })),
    links: links.map(change => ({
      text: describeLink(change),
      ends: [change.link].flat(),
      isCut: change.isDown === true,
    })),
    planned: planned.map(event => ({ s: event.atMs / 1000, text: sentenceOf(event) })),
    looks: measurements.looks
      .slice(-looksMax)
      .map(({ atMs, alive, without }) => ({ s: atMs / 1000, up: alive, violated: without })),
    happenings: measurements.happenings
      .slice(-happeningsMax)
      .map(({ atMs, label }) => ({ s: atMs / 1000, label }))
      .reverse(),
    loads: measurements.loads.last.slice(0, loadsMax).map(({ from, to, bytes, load }) => ({ from, to, bytes, load })),
    dropped: Object.values(others).reduce((sum, count) => sum + count, 0),
    calls: { ok, failed: timed.length - ok },
  }
}
