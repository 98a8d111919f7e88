import { always, eventually, type GlobalState } from 'lastnail'

/** What a node logs; nodes are named by their addresses. */
export interface Node {
  self: string
  state: 'init' | 'joining' | 'joined'
  root: string
  parent: string | null
  children: string[]
  siblings: string[]
  peers: string[]
  isRecovering: boolean
  mismatches: number
}

export const address = (name: string) => `{{${name}.address}}:7000`

export const nodes = (state: GlobalState<Node>) => state.nodes.flatMap(({ state }) => (state ? [state] : []))
export const isRoot = ({ self, state, parent }: Node) => state === 'joined' && parent === self

/** A property of each node for itself, in every state. */
export const each = (holds: (node: Node) => boolean) => always((state: GlobalState<Node>) => nodes(state).every(holds))

export const oneRoot = eventually((state: GlobalState<Node>) => {
  const roots = nodes(state).filter(isRoot)
  return roots.length === 1 && nodes(state).every(({ root }) => root === roots[0]!.self)
})
export const childrenAreNotSiblings = each(({ children, siblings }) =>
  children.every(child => !siblings.includes(child)),
)
export const rootHasNoSiblings = each(({ self, root, siblings }) => root !== self || siblings.length === 0)
