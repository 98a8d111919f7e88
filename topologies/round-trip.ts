import { TopologyError } from './error.ts'
import { sample, seededRandom } from './random.ts'
import { collapse, type RouteBetween } from './routes.ts'
import { type BothWays, type Pipe, stubsOf, type Topology } from './topology.ts'

/**
 * Routes between the ends of a topology: its clients, else its stubs, else all nodes. Of more than 100, a fixed random
 * sample is used. None if there is one end. Throws a `TopologyError` if there is no path between some.
 */
export const routesBetweenEnds = (topology: Topology): RouteBetween[] => {
  const ends = endsOf(topology)
  return collapse(topology, sample(seededRandom(1), ends, endsMax))
}

const endsMax = 100

const endsOf = (topology: Topology): string[] => {
  const clients = topology.nodes.filter(({ role }) => role === 'client').map(({ id }) => id)
  if (clients.length > 0) return clients
  const stubs = stubsOf(topology)
  return stubs.length > 1 ? stubs : topology.nodes.map(({ id }) => id)
}

/** In milliseconds, over ordered pairs: there by one route and back by the other. */
export const meanRoundTrip = (routes: readonly RouteBetween[]): number =>
  (2 * routes.reduce((sum, { delayMs }) => sum + delayMs, 0)) / routes.length

/**
 * The topology with all delays multiplied by one factor, so that the mean round trip between its ends has the given
 * length in milliseconds. Throws a `TopologyError` if all delays are 0, or there is one end.
 */
export const withMeanRoundTrip = (topology: Topology, wanted: number): Topology => {
  const routes = routesBetweenEnds(topology)
  if (routes.length === 0) throw new TopologyError('expected at least two nodes to go between, found one')
  const found = meanRoundTrip(routes)
  if (found === 0) throw new TopologyError(`cannot make the mean round trip ${wanted} ms: all delays are 0`)
  return withDelays(topology, delay => (delay * wanted) / found)
}

const withDelays = (topology: Topology, change: (delayMs: number) => number): Topology => {
  const changed = <P extends Pipe>(pipe: P): P => ({ ...pipe, delayMs: change(pipe.delayMs) })
  const both = <W extends BothWays>(ways: W): W => {
    const there = changed(ways)
    return ways.back ? { ...there, back: changed(ways.back) } : there
  }
  return {
    ...topology,
    nodes: topology.nodes.map(node => (node.access ? { ...node, access: both(node.access) } : node)),
    links: topology.links.map(both),
  }
}
