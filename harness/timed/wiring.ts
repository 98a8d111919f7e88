import type { ForwardingPlan } from '../../proxy/forwarding/plan.ts'
import { place } from '../../topologies/place.ts'
import { collapse, routesByHop } from '../../topologies/routes.ts'
import type { Pipe, Topology } from '../../topologies/topology.ts'

export interface Wiring {
  /** Nodes are placed on its stubs, unless it has a client of each name; all side by side without one. */
  readonly topology: Topology | undefined
  /** Whether each pair of nodes has a pipe of its own, end to end, or packets pass the pipe of every link on their way. */
  readonly hops: 'collapsed' | 'each'
  readonly seed: number
}

/**
 * The pipes between nodes.
 *
 * @param nodes their names, and addresses
 * @throws TopologyError for more nodes than stubs, and for two with no way between
 */
export const planOf = (
  nodes: readonly { readonly name: string; readonly address: string }[],
  { topology, hops, seed }: Wiring,
): ForwardingPlan => {
  const names = nodes.map(({ name }) => name)
  const addresses = nodes.map(({ address }) => address)
  if (topology === undefined) return { addresses, pipes: [], routes: sideBySide(nodes.length), seed }
  const placed = withNodes(topology, names, seed)
  const indexOf = new Map(names.map((name, index) => [name, index]))
  const pipes = new Map<Pipe, number>()
  const indexOfPipe = (pipe: Pipe) => {
    if (!pipes.has(pipe)) pipes.set(pipe, pipes.size)
    return pipes.get(pipe)!
  }
  const routes = (hops === 'each' ? routesByHop(placed, names) : endToEnd(placed, names)).map(
    ({ from, to, pipes }) => ({
      from: indexOf.get(from)!,
      to: indexOf.get(to)!,
      pipes: pipes.map(indexOfPipe),
    }),
  )
  return { addresses, pipes: [...pipes.keys()], routes, seed }
}

const withNodes = (topology: Topology, names: readonly string[], seed: number): Topology => {
  const clients = new Set(topology.nodes.filter(({ role }) => role === 'client').map(({ id }) => id))
  return names.every(name => clients.has(name)) ? topology : place(topology, names, seed)
}

const endToEnd = (topology: Topology, names: readonly string[]) =>
  collapse(topology, names).map(({ from, to, hops: _, ...pipe }) => ({ from, to, pipes: [pipe] as Pipe[] }))

const sideBySide = (count: number): ForwardingPlan['routes'] =>
  Array.from({ length: count }, (_, from) => from).flatMap(from =>
    Array.from({ length: count }, (_, to) => to).flatMap(to => (to === from ? [] : [{ from, to, pipes: [] }])),
  )
