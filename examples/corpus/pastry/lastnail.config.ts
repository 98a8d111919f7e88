import { defineSystem, eventually, frames, type GlobalState, jsonLines } from 'lastnail'

/** What a node logs; its neighbours are keys. */
interface Node {
  key: number
  joined: boolean
  left: number | null
  right: number | null
}

type Pastry = GlobalState<Node>

/** Of the nodes. The third and the fifth are no neighbours of the first. */
const keys = [0, 10, 28, 50, 36]

const address = (name: string) => `{{${name}.address}}:7000`
const env = { BUG: process.env.BUG ?? '' }
const node = (name: string, key: number, ...bootstrap: string[]) => ({
  command: ['node', '--no-memory-reducer', 'node.js', `${key}`, address(name), ...bootstrap.map(address)],
  env,
})

const states = (state: Pastry) => state.nodes.flatMap(({ alive, state }) => (alive && state ? [state] : []))
const joined = (state: Pastry) => states(state).filter(({ joined }) => joined)
const hasLeaf = ({ left, right }: Node, key: number) => left === key || right === key

/** The keys that are met from a node on to the right. */
const reached = (nodes: readonly Node[], from: Node) => {
  const keys = new Set<number>()
  for (let at: Node | undefined = from; at && !keys.has(at.key); ) {
    keys.add(at.key)
    const { right }: Node = at
    at = nodes.find(({ key }) => key === right)
  }
  return keys
}

export default defineSystem({
  name: 'pastry',
  nodes: count =>
    Object.fromEntries(keys.slice(0, count).map((key, i) => [`n${i}`, node(`n${i}`, key, ...(i > 0 ? ['n0'] : []))])),
  count: Number(process.env.NODES ?? 4),
  state: jsonLines<Node>('stdout'),
  properties: {
    allJoined: eventually((state: Pastry) => joined(state).length === state.nodes.filter(({ alive }) => alive).length),
    /** From each node that has joined all of them are reached to the right. */
    oneRing: eventually((state: Pastry) => {
      const nodes = joined(state)
      return nodes.every(node => reached(nodes, node).size === nodes.length)
    }),
    /** Who is a leaf of another has that for a leaf. */
    symmetric: eventually((state: Pastry) => {
      const nodes = joined(state)
      return nodes.every(a => nodes.every(b => hasLeaf(a, b.key) === hasLeaf(b, a.key)))
    }),
  },
  faults: { reset: 2, partition: 1 },
  messages: frames.jsonLines(({ type, node, row }: { type: string; node?: { key: number }; row?: number }) =>
    [type, node && `of ${node.key}`, row !== undefined && `row ${row}`].filter(Boolean).join(' '),
  ),
})
