import { defineSystem, eventually, frames, type GlobalState, jsonLines } from 'lastnail'
import {
  address,
  childrenAreNotSiblings,
  each,
  isRoot,
  type Node,
  nodes,
  oneRoot,
  rootHasNoSiblings,
} from './properties.ts'

/** A message, as far as its label tells it. */
interface Message {
  type: string
  joiner?: string
  root?: string
  isPushed?: boolean
}

const env = { BUG: process.env.BUG ?? '' }
const node = (name: string, ...peers: string[]) => ({
  command: ['node', '--no-memory-reducer', 'node.js', address(name), ...peers.map(address)],
  env,
  listens: 7000,
})

const label = ({ type, joiner, root, isPushed }: Message) => {
  const host = (joiner ?? root ?? '').split(/[.:]/)[3]
  return `${type}${host ? ` .${host}` : ''}${isPushed ? ' pushed' : ''}`
}

export default defineSystem({
  name: 'randtree',
  // Addresses grow from n1 to n4, so n1 is the best root. n3 is told of nobody: it waits to be found.
  nodes: { n1: node('n1', 'n2', 'n3'), n2: node('n2', 'n3', 'n1'), n3: node('n3'), n4: node('n4', 'n3', 'n2', 'n1') },
  state: jsonLines<Node>('stdout'),
  properties: {
    oneRoot,
    parentsAndChildrenAgree: eventually((state: GlobalState<Node>) => {
      const all = new Map(nodes(state).map(node => [node.self, node]))
      const isChild = (node: Node) => isRoot(node) || all.get(node.parent ?? '')?.children.includes(node.self)
      const isParent = (node: Node) => node.children.every(child => all.get(child)?.parent === node.self)
      return nodes(state).every(node => isChild(node) && isParent(node))
    }),
    recoveryTimerRuns: each(({ state, peers, isRecovering }) => state === 'init' || peers.length === 0 || isRecovering),
    childrenAreNotSiblings,
    rootIsAboveAll: each(({ root, children, siblings }) => !children.includes(root) && !siblings.includes(root)),
    rootHasNoSiblings,
    forceRootMatches: each(({ mismatches }) => mismatches === 0),
  },
  faults: { reset: 1 },
  // A handler runs to its end before the next one begins: two inputs at once are the same as one after the other.
  overlap: 0,
  messages: frames.jsonLines(label),
})
