import { classOf, degreesOf, type Link, type NodeRole, type Topology, type TopologyNode } from './topology.ts'

/** A topology with only what its file says. */
export interface Unclassified {
  readonly name?: string
  readonly nodes: readonly (Omit<TopologyNode, 'role'> & { readonly role?: NodeRole })[]
  readonly links: readonly (Omit<Link, 'class'> & { readonly class?: Link['class'] })[]
}

/**
 * Assigns missing roles and classes: nodes with one link are stubs, as in INET, and all others transit. If no node has
 * one link, all are stubs. The class of a link follows from its ends' roles.
 */
export const classified = ({ name, nodes, links }: Unclassified): Topology => {
  const degrees = degreesOf(nodes, links)
  const isStub = degrees.includes(1) ? (degree: number) => degree === 1 : () => true
  const withRoles = nodes.map(
    (node, index): TopologyNode => ({ ...node, role: node.role ?? (isStub(degrees[index]!) ? 'stub' : 'transit') }),
  )
  const roleOf = new Map(withRoles.map(({ id, role }) => [id, role]))
  const roleAt = (id: string) => roleOf.get(id) ?? 'transit'
  return {
    ...(name !== undefined && { name }),
    nodes: withRoles,
    links: links.map(link => ({ ...link, class: link.class ?? classOf(roleAt(link.from), roleAt(link.to)) })),
  }
}
