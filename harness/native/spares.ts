import type { Topology } from '../../topologies/topology.ts'
import { isMadeFor } from '../timed/wiring.ts'

/** How many nodes may be added while a system runs. Each takes a place in the network, and ways to all others. */
export const sparesMax = 8

/** The names, in the plan of the network, of nodes that may be added; none if the topology has a client for each node. */
export const spareNames = (nodes: readonly { readonly name: string }[], topology: Topology | undefined): string[] =>
  isMadeFor(nodes, topology) ? [] : Array.from({ length: sparesMax }, (_, index) => `spare ${index + 1}`)
