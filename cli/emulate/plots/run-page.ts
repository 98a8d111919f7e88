import { describeLink, describeWay } from '../../../checker/happening/ways.ts'
import type { ResolvedSystem } from '../../../harness/config/config.ts'
import type { Run } from '../../../harness/emulation/run.ts'
import type { EmulationOptions } from '../../../harness/native/emulation.ts'
import { withNodes } from '../../../harness/timed/wiring.ts'
import { runPageOf } from '../../../report/run.ts'
import type { RunMap, SeenRun } from '../../../report/run-data.ts'
import { mapOf } from '../../../topologies/picture/map.ts'
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
  const names = nodes.map(({ name }) => name)
  const map = topology === undefined ? null : mapWith(names, withNodes(topology, names, seed, places ?? {}))
  return token => {
    const { page, policy } = runPageOf({ system, token, map })
    return { type: 'text/html; charset=utf-8', body: page, policy }
  }
}

const mapWith = (names: readonly string[], topology: Parameters<typeof mapOf>[0]): RunMap => {
  const { lines, points } = mapOf(topology)
  const places = names.flatMap(name => (points.has(name) ? [[name, points.get(name)!] as const] : []))
  return { lines, places: Object.fromEntries(places) }
}

export const seenOf = ({ elapsedMs, nodes, groups, ways, links, measurements, counts, timed }: Run): SeenRun => {
  const { forwarded, bytes, ...others } = counts
  const ok = timed.filter(({ isOk }) => isOk).length
  return {
    ...{ elapsedMs: Math.round(elapsedMs), nodes, groups, forwarded, bytes },
    ways: ways.map(describeWay),
    links: links.map(describeLink),
    looks: measurements.looks
      .slice(-looksMax)
      .map(({ atMs, alive, without }) => ({ s: atMs / 1000, up: alive, violated: without })),
    happenings: measurements.happenings
      .slice(-happeningsMax)
      .map(({ atMs, label }) => ({ s: atMs / 1000, label }))
      .reverse(),
    loads: measurements.loads.last
      .slice(0, loadsMax)
      .map(({ from, to, bytes, load }) => ({ link: `${from}→${to}`, bytes, load })),
    dropped: Object.values(others).reduce((sum, count) => sum + count, 0),
    calls: { ok, failed: timed.length - ok },
  }
}
