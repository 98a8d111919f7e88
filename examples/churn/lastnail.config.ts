import { defineSystem, eventually, type GlobalState, jsonLines } from 'lastnail'
import {
  address,
  childrenAreNotSiblings,
  isRoot,
  type Node,
  nodes,
  oneRoot,
  rootHasNoSiblings,
} from '../corpus/randtree/properties.ts'

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index + 1}`)

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
    oneRoot,
    parentsKnowTheirChildren: eventually((state: GlobalState<Node>) => {
      const all = new Map(nodes(state).map(node => [node.self, node]))
      return nodes(state).every(node => isRoot(node) || all.get(node.parent ?? '')?.children.includes(node.self))
    }),
    childrenAreNotSiblings,
    rootHasNoSiblings,
  },
  emulation: {
    topology: { kind: 'inet', nodes: 5000, meanRtt: 130 },
    churn: { kind: 'poisson', joinsPerMinute: 1, leavesPerMinute: 1, atLeast: 15, manners: ['kill'] },
    initial: 20,
    for: '10m',
    joined: node => node.state?.state === 'joined',
  },
})
