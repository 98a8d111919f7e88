import { defineSystem, eventually, frames, type GlobalState, jsonLines } from 'lastnail'

/** What a node logs; nodes are named by their addresses. */
interface Node {
  self: string
  parent: string | null
  children: string[]
}

const names = ['root', 'a', 'b']
const address = (name: string) => `{{${name}.address}}:7000`
const env = { BUG: process.env.BUG ?? '' }
const nodes = Object.fromEntries(
  names.map(name => [
    name,
    { command: ['node', '--no-memory-reducer', 'node.js', address(name), address('root')], env, listens: 7000 },
  ]),
)

/** Whether each node comes to the root by its parents, of which each has it as a child. */
const isOneTree = (state: GlobalState<Node>) => {
  const known = new Map(state.nodes.flatMap(({ state }) => (state ? [[state.self, state]] : [])))
  const root = state.node('root').state?.self
  const reachesRoot = (node: Node, steps = 0): boolean => {
    if (node.self === root) return true
    const parent = known.get(node.parent ?? '')
    return (
      steps < known.size &&
      parent !== undefined &&
      parent.children.includes(node.self) &&
      reachesRoot(parent, steps + 1)
    )
  }
  return known.size === names.length && [...known.values()].every(node => reachesRoot(node))
}

export default defineSystem({
  name: 'overcast',
  nodes,
  state: jsonLines<Node>('stdout'),
  properties: { oneTree: eventually(isOneTree) },
  faults: { reset: 2 },
  messages: frames.jsonLines(({ type, attempt }: { type: string; attempt?: number }) =>
    attempt === undefined ? type : `${type} ${attempt}`,
  ),
})
