import { TopologyError } from './error.ts'
import { sample, seededRandom } from './random.ts'
import { type Link, stubsOf, type Topology, type TopologyNode } from './topology.ts'

/**
 * Adds a client for each name, linked to a stub of its own that is drawn by the seed; the link is the stub's `access`, or
 * without delay and limit. Throws a `TopologyError` where there are more names than stubs, or a name is taken.
 */
export const place = (topology: Topology, names: readonly string[], seed: number): Topology => {
  const stubs = stubsOf(topology)
  if (names.length > stubs.length) {
    throw new TopologyError(`cannot place ${names.length} nodes: the topology has ${stubs.length} stubs`)
  }
  const nodes = new Map(topology.nodes.map(node => [node.id, node]))
  const links: Link[] = []
  for (const [index, from] of sample(seededRandom(seed), stubs, names.length).entries()) {
    const name = names[index]!
    if (nodes.has(name)) throw new TopologyError(`cannot place "${name}": the topology has a node of that name`)
    const { at, access = { delayMs: 0 } } = nodes.get(from)!
    const client: TopologyNode = { id: name, role: 'client', ...(at && { at }) }
    nodes.set(name, client)
    links.push({ from, to: name, class: 'client-stub', ...access })
  }
  return { ...topology, nodes: [...nodes.values()], links: [...topology.links, ...links] }
}
