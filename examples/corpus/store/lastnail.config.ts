import { defineSystem, eventually, frames, type GlobalState, jsonLines, type NodeHandle } from 'lastnail'

/** What a node logs. */
interface Node {
  self: string
  /** Objects. */
  holds: string[]
  /** By object and holder. */
  index: Record<string, Record<string, object>>
}

interface Message {
  type: string
  object?: string
  objects?: string[]
}

const names = ['n1', 'n2', 'n3', 'n4'] as const
const address = (name: string) => `{{${name}.address}}:7000`
const node = (name: string) => ({
  command: ['node', '--no-memory-reducer', 'node.js', address(name), 'disk', ...names.map(address)],
  env: { BUG: process.env.BUG ?? '' },
  listens: 7000,
})

/** Belongs to n1. */
const object = 'letter'

/** Sends a message as a client does, which is no node. */
const tell = (node: NodeHandle, message: object) =>
  new Promise(resolve => {
    const socket = node.tcp(7000).once('close', resolve)
    socket.end(`${JSON.stringify({ ...message, from: 'client', run: 0 })}\n`)
  })

/** Who has a replica of each object, and who should have one as the indexes say. */
const holders = (state: GlobalState<Node>) => {
  const nodes = state.nodes.flatMap(node => node.state ?? [])
  const objects = new Set(nodes.flatMap(({ holds, index }) => [...holds, ...Object.keys(index)]))
  return [...objects].map(object => ({
    actual: nodes.filter(({ holds }) => holds.includes(object)).map(({ self }) => self),
    indexed: nodes.flatMap(({ index }) => Object.keys(index[object] ?? {})),
  }))
}

export default defineSystem({
  name: 'store',
  nodes: { n1: node('n1'), n2: node('n2'), n3: node('n3'), n4: node('n4') },
  state: jsonLines<Node>('stdout'),
  clients: {
    put: ({ n1 }) => tell(n1, { type: 'put', object, content: 'Dear …' }),
    drain: ({ n1, n2 }) => tell(n2, { type: 'drain', to: `${n1.address}:7000` }),
  },
  properties: {
    threeReplicas: eventually((state: GlobalState<Node>) => holders(state).every(({ actual }) => actual.length === 3)),
    indexIsRight: eventually((state: GlobalState<Node>) =>
      holders(state).every(({ actual, indexed }) => actual.sort().join() === indexed.sort().join()),
    ),
  },
  faults: { reset: 1 },
  // A handler runs to its end before the next one begins.
  overlap: 0,
  messages: frames.jsonLines(({ type, object, objects }: Message) => [type, object ?? objects].join(' ').trim()),
})
