import { always, defineSystem, eventually, type GlobalState, jsonLines } from 'lastnail'

/** What a node of RandTree logs. */
interface Node {
  self: string
  state: 'init' | 'joining' | 'joined'
  root: string
  parent: string | null
  children: string[]
  siblings: string[]
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index + 1}`)
const address = (name: string) => `{{${name}.address}}:7000`
const nodes = (state: GlobalState<Node>) => state.nodes.flatMap(({ state }) => (state ? [state] : []))
const isRoot = ({ self, state, parent }: Node) => state === 'joined' && parent === self

/**
 * An experiment of CrystalBall's kind: a random tree over an internet of 5,000 routers whose mean round trip is 130 ms,
 * one join and one leave a minute, for ten minutes.
 */
export default defineSystem({
  name: 'churn',
  count: 25,
  // Each is told of two that are there from the start.
  nodes: count =>
    Object.fromEntries(
      names(count).map(name => [
        name,
        {
          command: ['node', 'node.js', address(name), ...['n1', 'n2'].filter(peer => peer !== name).map(address)],
          cwd: '../corpus/randtree',
          env: { BUG: process.env.BUG ?? '' },
        },
      ]),
    ),
  state: jsonLines<Node>('stdout'),
  properties: {
    oneRoot: eventually((state: GlobalState<Node>) => {
      const roots = nodes(state).filter(isRoot)
      return roots.length === 1 && nodes(state).every(({ root }) => root === roots[0]!.self)
    }),
    parentsKnowTheirChildren: eventually((state: GlobalState<Node>) => {
      const all = new Map(nodes(state).map(node => [node.self, node]))
      return nodes(state).every(node => isRoot(node) || all.get(node.parent ?? '')?.children.includes(node.self))
    }),
    childrenAreNotSiblings: always((state: GlobalState<Node>) =>
      nodes(state).every(({ children, siblings }) => children.every(child => !siblings.includes(child))),
    ),
    rootHasNoSiblings: always((state: GlobalState<Node>) =>
      nodes(state).every(({ self, root, siblings }) => root !== self || siblings.length === 0),
    ),
  },
  emulation: {
    topology: { kind: 'inet', nodes: 5000, meanRtt: 130 },
    churn: { kind: 'poisson', joinsPerMinute: 1, leavesPerMinute: 1, atLeast: 15, manners: ['kill'] },
    initial: 20,
    for: '10m',
    joined: node => node.state?.state === 'joined',
  },
})
