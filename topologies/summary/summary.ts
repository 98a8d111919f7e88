import { meanRoundTrip, routesBetweenEnds } from '../round-trip.ts'
import type { NodeRole, Topology } from '../topology.ts'
import { type Degrees, summariseDegrees } from './degrees.ts'

/** What one wants to know about a topology before using it. */
export interface TopologySummary {
  readonly name: string | null
  readonly nodes: Readonly<Record<NodeRole, number>>
  readonly links: number
  /** Links whose bandwidth has no limit, because a file does not say it. */
  readonly linksWithoutLimit: number
  readonly degrees: Degrees
  /** `null` if there is nothing to go between. */
  readonly routes: {
    /** Number of ends between which routes were measured: clients, stubs or all nodes, or a sample of them. */
    readonly ends: number
    readonly hops: { readonly mean: number; readonly most: number }
    readonly roundTripMs: { readonly mean: number; readonly least: number; readonly most: number }
  } | null
}

/** Throws a `TopologyError` if there is no path between some of the ends. */
export const summarise = (topology: Topology): TopologySummary => {
  const count = (role: NodeRole) => topology.nodes.filter(node => node.role === role).length
  const routes = routesBetweenEnds(topology)
  const hops = routes.map(route => route.hops)
  const delayTo = new Map(routes.map(({ from, to, delayMs }) => [JSON.stringify([from, to]), delayMs]))
  const roundTrips = routes.map(({ from, to, delayMs }) => delayMs + delayTo.get(JSON.stringify([to, from]))!)
  return {
    name: topology.name ?? null,
    nodes: { transit: count('transit'), stub: count('stub'), client: count('client') },
    links: topology.links.length,
    linksWithoutLimit: topology.links.filter(({ bandwidth }) => bandwidth === undefined).length,
    degrees: summariseDegrees(topology),
    routes:
      routes.length === 0
        ? null
        : {
            ends: new Set(routes.map(({ from }) => from)).size,
            hops: { mean: hops.reduce((sum, each) => sum + each, 0) / hops.length, most: largest(hops) },
            roundTripMs: {
              mean: meanRoundTrip(routes),
              least: -largest(roundTrips.map(each => -each)),
              most: largest(roundTrips),
            },
          },
  }
}

const largest = (values: readonly number[]) => values.reduce((one, other) => Math.max(one, other))

/** A summary for people. */
export const describeSummary = ({
  name,
  nodes,
  links,
  linksWithoutLimit,
  degrees,
  routes,
}: TopologySummary): string[] => {
  const counts = Object.entries(nodes).filter(([, count]) => count > 0)
  const all = counts.reduce((sum, [, count]) => sum + count, 0)
  return [
    `${name ?? 'topology'}: ${all} nodes (${counts.map(([role, count]) => `${count} ${role}`).join(', ')}), ${links} links`,
    `degree: ${degrees.mean.toFixed(2)} in the mean, ${degrees.largest} at most, ${(100 * degrees.degreeOneShare).toFixed(1)} % have one link`,
    ...describeLaw('degree ~ rank', degrees.rankLaw),
    ...describeLaw('P(degree > d) ~ d', degrees.ccdfLaw),
    ...describeRoutes(routes),
    ...(linksWithoutLimit > 0 ? [`bandwidth: no limit on ${linksWithoutLimit} of ${links} links`] : []),
  ]
}

const describeRoutes = (routes: TopologySummary['routes']): string[] => {
  if (routes === null) return []
  const { hops, roundTripMs: times, ends } = routes
  return [
    `routes between ${ends} ends: ${hops.mean.toFixed(2)} links in the mean, ${hops.most} at most`,
    `round trip: ${times.mean.toFixed(1)} ms in the mean, from ${times.least.toFixed(1)} to ${times.most.toFixed(1)} ms`,
  ]
}

const describeLaw = (what: string, law: Degrees['rankLaw']) =>
  law === null ? [] : [`  ${what}^${law.exponent.toFixed(3)}, correlation ${law.correlation.toFixed(3)}`]
