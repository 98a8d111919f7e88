import type { Topology } from './topology.ts'

/** Ids of nodes that links join, the largest part first; of equal ones, the one whose node comes first. */
export const partsOf = ({ nodes, links }: Topology): string[][] => {
  const neighbours = new Map(nodes.map(({ id }) => [id, [] as string[]]))
  for (const { from, to } of links) {
    neighbours.get(from)!.push(to)
    neighbours.get(to)!.push(from)
  }
  const met = new Set<string>()
  const parts: string[][] = []
  for (const { id } of nodes) {
    if (met.has(id)) continue
    met.add(id)
    const part = [id]
    // The part grows while it is walked through.
    for (const member of part)
      for (const neighbour of neighbours.get(member)!)
        if (!met.has(neighbour)) {
          met.add(neighbour)
          part.push(neighbour)
        }
    parts.push(part)
  }
  return parts.sort((one, other) => other.length - one.length)
}

/** The topology without what the largest part does not reach. */
export const largestPart = (topology: Topology): Topology => {
  const kept = new Set(partsOf(topology)[0])
  return {
    ...topology,
    nodes: topology.nodes.filter(({ id }) => kept.has(id)),
    links: topology.links.filter(({ from }) => kept.has(from)),
  }
}

/** What is wrong with a graph in parts, with their sizes; `undefined` where it is whole. */
export const partsProblem = (topology: Topology): string | undefined => {
  const sizes = partsOf(topology).map(part => part.length)
  if (sizes.length === 1) return undefined
  const shown = sizes.length > sizesShown ? [...sizes.slice(0, sizesShown), '…'] : sizes
  return `the graph is in ${sizes.length} parts, of ${shown.join(', ')} nodes; \`lastnail topology convert FILE --largest-part --out FILE\` keeps the largest`
}

const sizesShown = 8
