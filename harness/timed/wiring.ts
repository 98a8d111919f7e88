import { formatAddress, parseAddress } from '../../linux/address.ts'
import type { ForwardingPlan, Hop } from '../../proxy/forwarding/plan.ts'
import { TopologyError } from '../../topologies/error.ts'
import { type Places, place } from '../../topologies/place.ts'
import {
  type Direction,
  type HopRoute,
  type RouteByHop,
  routesByHop,
  routesByLastMile,
} from '../../topologies/routes.ts'
import type { Pipe, Topology } from '../../topologies/topology.ts'
import type { LinkPlan } from './links.ts'

export interface Wiring {
  /** Nodes are placed on its stubs, unless it has a client for each name. Without a topology all are adjacent. */
  readonly topology: Topology | undefined
  /** Where to place nodes that must not be placed just anywhere. */
  readonly place?: Places
  /**
   * `each`: packets pass the pipe of every link on their way. `collapsed`: they pass their host's own link, one pipe
   * for everything between, and the other host's own link.
   */
  readonly hops: 'collapsed' | 'each'
  readonly seed: number
}

/** The pipes between nodes. */
export interface Wired extends ForwardingPlan {
  /** Sentences that say which aspects of the topology the pipes leave out. */
  readonly notes: readonly string[]
  /** Absent without a topology. */
  readonly links?: LinkPlan
}

interface NamedAddress {
  readonly name: string
  readonly address: string
}

/** Whether the topology has a client for each of these nodes, and no place for others. */
export const isMadeFor = (nodes: readonly { readonly name: string }[], topology: Topology | undefined): boolean => {
  const clients = new Set(topology?.nodes.filter(({ role }) => role === 'client').map(({ id }) => id))
  return nodes.every(({ name }) => clients.has(name))
}

/**
 * Computes the pipes between nodes.
 *
 * @param nodes their names and addresses
 *
 * @param spare the same of nodes that may come later, which are the last of the plan
 *
 * @throws TopologyError for more nodes than stubs, or for two nodes with no way between
 */
export const planOf = (
  nodes: readonly NamedAddress[],
  { topology, place: places = {}, hops, seed }: Wiring,
  spare: readonly NamedAddress[] = [],
): Wired => {
  const names = [...nodes, ...spare].map(({ name }) => name)
  const addresses = [...nodes, ...spare].map(({ address }) => address)
  if (topology === undefined) return { addresses, pipes: [], routes: [], seed, notes: [] }
  const placed = withNodes(topology, names, seed, places)
  const indexOf = new Map(names.map((name, index) => [name, index]))
  const pipes = new Map<Pipe, number>()
  const indexOfPipe = (pipe: Pipe) => {
    if (!pipes.has(pipe)) pipes.set(pipe, pipes.size)
    return pipes.get(pipe)!
  }
  const byHop = hops === 'each' ? routesByHop(placed, names) : undefined
  const { routes: ways, notShared } = byHop
    ? { routes: byHop, notShared: [] }
    : routesByLastMile(placed, names, new Set(spare.map(({ name }) => name)))
  const routes = ways.map(({ from, to, pipes }) => ({
    from: indexOf.get(from)!,
    to: indexOf.get(to)!,
    pipes: pipes.map(indexOfPipe),
  }))
  const shown = byHop && { hops: hopsOf(byHop, topology, indexOfPipe) }
  const links = linksOf(byHop ? byHop.flatMap(withBack) : ways, pipes)
  return { addresses, pipes: [...pipes.keys()], routes, ...shown, seed, links, notes: notesOn(topology, notShared) }
}

/** The address of the first router of a topology (RFC 6598). No node of a system has one of this range. */
const firstRouter = parseAddress('100.64.0.0')

/** The routers on each route, in the order of the routes. */
const hopsOf = (routes: readonly RouteByHop[], { nodes }: Topology, indexOfPipe: (pipe: Pipe) => number): Hop[][] => {
  const routers = new Map(nodes.map(({ id }, index) => [id, formatAddress(firstRouter + index)]))
  return routes.map(({ directions, back }) =>
    directions.slice(0, -1).map(([direction], index) => {
      const opposite = back[index]
      return { address: routers.get(direction!.to)!, ...(opposite && { back: indexOfPipe(opposite.pipe) }) }
    }),
  )
}

/** A route, and the other directions of its links. */
const withBack = (route: RouteByHop): Pick<HopRoute, 'pipes' | 'directions'>[] => {
  const back = route.back.flatMap(direction => direction ?? [])
  return [route, { pipes: back.map(({ pipe }) => pipe), directions: back.map(direction => [direction]) }]
}

/** Which directions of links each pipe consists of. */
const linksOf = (
  routes: readonly Pick<HopRoute, 'pipes' | 'directions'>[],
  pipes: ReadonlyMap<Pipe, number>,
): LinkPlan => {
  const numbers = new Map<Direction, number>()
  const ofPipe: number[][] = []
  for (const route of routes)
    for (const [stage, pipe] of route.pipes.entries()) {
      // No packet passes this direction of a link.
      const number = pipes.get(pipe)
      if (number === undefined) continue
      ofPipe[number] ??= route.directions[stage]!.map(direction => {
        if (!numbers.has(direction)) numbers.set(direction, numbers.size)
        return numbers.get(direction)!
      })
    }
  return { directions: [...numbers.keys()], ofPipe }
}

const notesOn = ({ name = '' }: Topology, notShared: readonly Pipe[]): string[] => {
  const scaled = name.includes('scaled down') ? [`the topology is an ${name}`] : []
  if (notShared.length === 0) return scaled
  const narrowest = Math.min(...notShared.map(({ bandwidth = Number.POSITIVE_INFINITY }) => bandwidth))
  return [
    ...scaled,
    `only hosts' own links are shared: on ${notShared.length} ways of links within, from ${narrowest / 1e6} Mbit/s on, each pair that uses them had the whole bandwidth; hops: 'each' shares these too`,
  ]
}

/** The topology with nodes on it, unless it has a client for each of them. @throws TopologyError for more nodes than stubs */
export const withNodes = (topology: Topology, names: readonly string[], seed: number, places: Places): Topology => {
  const hasAll = isMadeFor(
    names.map(name => ({ name })),
    topology,
  )
  if (hasAll && Object.keys(places).length > 0)
    throw new TopologyError('expected no places of nodes: the topology has a client for each of them')
  return hasAll ? topology : place(topology, names, seed, places)
}
