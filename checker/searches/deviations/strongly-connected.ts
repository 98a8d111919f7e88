/**
 * The strongly connected components of a graph (Tarjan, _Depth-First Search and Linear Graph Algorithms_, 1972), without recursion, because
 * ways are long.
 *
 * @param next the nodes to which edges lead; each must be one of `nodes`
 */
export const stronglyConnected = <Node>(
  nodes: readonly Node[],
  next: (node: Node) => readonly Node[],
): ReadonlySet<Node>[] => {
  const components: Set<Node>[] = []
  /** In the order in which nodes were reached. */
  const index = new Map<Node, number>()
  /** By node, the earliest one on the stack that it leads to. */
  const low = new Map<Node, number>()
  const stack: Node[] = []
  const onStack = new Set<Node>()
  for (const root of nodes) {
    if (index.has(root)) continue
    const way = [{ node: root, edge: 0 }]
    for (let at = way.at(-1); at !== undefined; at = way.at(-1)) {
      const { node } = at
      if (at.edge === 0) {
        index.set(node, index.size)
        low.set(node, index.get(node)!)
        stack.push(node)
        onStack.add(node)
      }
      const child = next(node)[at.edge]
      at.edge += 1
      if (child !== undefined) {
        if (!index.has(child)) way.push({ node: child, edge: 0 })
        else if (onStack.has(child)) low.set(node, Math.min(low.get(node)!, index.get(child)!))
        continue
      }
      way.pop()
      const before = way.at(-1)?.node
      if (before !== undefined) low.set(before, Math.min(low.get(before)!, low.get(node)!))
      if (low.get(node) !== index.get(node)) continue
      const component = new Set(stack.splice(stack.lastIndexOf(node)))
      for (const each of component) onStack.delete(each)
      components.push(component)
    }
  }
  return components
}
