import type { ClientCall, GlobalState, NodeView, Operation } from '../config.ts'

/** What the properties read. */
export const stateOf = (
  nodes: readonly NodeView[],
  calls: readonly ClientCall[],
  history: readonly Operation[],
): GlobalState => ({
  nodes,
  calls,
  history,
  node: name => nodes.find(node => node.name === name) ?? unknownNode(name, nodes),
})

const unknownNode = (name: string, nodes: readonly { name: string }[]): never => {
  throw new Error(noNode(name, nodes))
}

export const noNode = (name: string, nodes: readonly { name: string }[]) =>
  `no node ${name}: there are ${nodes.map(node => node.name).join(', ')}`
