import { TopologyError } from '../error.ts'

interface Edge {
  readonly from: string
  readonly to: string
  readonly line: number
}

/**
 * The edges between two nodes; those from a node to itself stand for the path inside it. Throws a `TopologyError` with the
 * line of an edge that ends at no node, and for two nodes of one name.
 */
export const checkEnds = <Found extends Edge>(
  nodes: readonly { readonly id: string }[],
  edges: readonly Found[],
): Found[] => {
  const ids = new Set<string>()
  for (const { id } of nodes) {
    if (ids.has(id)) throw new TopologyError(`expected one node of a name, found another "${id}"`)
    ids.add(id)
  }
  if (ids.size === 0) throw new TopologyError('expected at least one node, found none')
  for (const { from, to, line } of edges)
    for (const end of [from, to])
      if (!ids.has(end)) throw new TopologyError(`line ${line}: the edge ends at node "${end}", which is not there`)
  return edges.filter(({ from, to }) => from !== to)
}
