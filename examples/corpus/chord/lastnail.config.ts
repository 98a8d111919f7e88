import { always, defineSystem, eventually, frames, type GlobalState, jsonLines } from 'lastnail'

/** What a node logs: pointers are keys. */
interface Node {
  key: number
  joined: boolean
  predecessor: number
  successors: number[]
  fingers: number[]
  queue: number
}

type Chord = GlobalState<Node>

const size = 8
const port = 7000
const env = { BUG: process.env.BUG ?? '' }

const node = (name: string, key: number, bootstrap?: string) => ({
  command: [
    'node',
    '--no-memory-reducer',
    'node.js',
    `${key}`,
    `{{${name}.address}}:${port}`,
    ...(bootstrap ? [`{{${bootstrap}.address}}:${port}`] : []),
  ],
  env,
  listens: port,
})

const states = (state: Chord) => state.nodes.flatMap(({ alive, state }) => (alive && state ? [state] : []))
const joined = (state: Chord) => states(state).filter(({ joined }) => joined)

/** How far it is clockwise from one key to another. */
const distance = (from: number, to: number) => (to - from + size) % size

/** The keys that are met from a node on by successors. */
const reached = (nodes: readonly Node[], from: Node) => {
  const keys = new Set<number>()
  for (let at: Node | undefined = from; at && !keys.has(at.key); ) {
    keys.add(at.key)
    const [successor]: number[] = at.successors
    at = nodes.find(({ key }) => key === successor)
  }
  return keys
}

/** Whether the fingers of a node point to the first of the nodes from where they begin. */
const hasRightFingers = (nodes: readonly Node[]) => (node: Node) =>
  node.fingers.every((finger, i) => {
    const start = (node.key + 2 ** i) % size
    return nodes.every(({ key }) => distance(start, finger) <= distance(start, key))
  })

export default defineSystem({
  name: 'chord',
  nodes: { n0: node('n0', 0), n1: node('n1', 2, 'n0'), n2: node('n2', 4, 'n0'), n3: node('n3', 6, 'n0') },
  state: jsonLines<Node>('stdout'),
  clients: {
    leave: ({ n3 }) =>
      new Promise((resolve, reject) => {
        const operator = n3.tcp(port).on('error', reject).on('close', resolve)
        operator.end('{"from":"operator","run":0,"type":"Leave"}\n')
      }),
  },
  properties: {
    allJoined: eventually((state: Chord) => joined(state).length === state.nodes.filter(({ alive }) => alive).length),
    /** From each node that has joined all of them are reached by successors. */
    oneRing: eventually((state: Chord) => {
      const nodes = joined(state)
      return nodes.every(node => reached(nodes, node).size === nodes.length)
    }),
    /** A finger points to the first of them from where it begins. */
    rightFingers: eventually((state: Chord) => joined(state).every(hasRightFingers(joined(state)))),
    aloneBothWays: always((state: Chord) =>
      states(state).every(({ key, predecessor, successors }) => (predecessor === key) === (successors[0] === key)),
    ),
    /** No successor lies between the predecessor and the node itself. */
    inOrder: always((state: Chord) =>
      states(state).every(({ key, predecessor, successors }) =>
        successors.every(each => each === key || distance(each, key) >= distance(predecessor, key)),
      ),
    ),
    /** Of each other node one question at most waits. */
    shortQueue: always((state: Chord) => states(state).every(({ queue }) => queue < state.nodes.length)),
  },
  faults: { reset: 2 },
  weights: { client: 0.1 },
  messages: frames.jsonLines(({ type, key }: { type: string; key?: number }) =>
    key === undefined ? type : `${type} ${key}`,
  ),
})
