import { always, defineSystem, frames, type GlobalState, jsonLines } from 'lastnail'

/** What a node logs, as far as the property reads it. */
interface Node {
  self: string
  blocks: number[]
  receivers: Record<string, { session: number; diffs: number; untold: number[] }>
  senders: Record<string, { session: number; diffs: number; view: number[] }>
}

interface Message {
  type: string
  block?: number
  number?: number
  blocks?: number[]
}

const address = (name: string) => `{{${name}.address}}:7000`
const node = (name: string, blocks: number, ...receivers: string[]) => ({
  command: ['node', '--no-memory-reducer', 'node.js', address(name), String(blocks), ...receivers.map(address)],
  env: { BUG: process.env.BUG ?? '' },
  listens: 7000,
})

/** What a sender has and has told, and what its receiver knows, where all that was told has arrived. */
const settledPairs = (state: GlobalState<Node>) => {
  const nodes = state.nodes.flatMap(node => node.state ?? [])
  return nodes.flatMap(sender =>
    nodes.flatMap(receiver => {
      const told = sender.receivers[receiver.self]
      const heard = receiver.senders[sender.self]
      if (!told || !heard || told.session !== heard.session || told.diffs !== heard.diffs) return []
      return [{ told: sender.blocks.filter(block => !told.untold.includes(block)), view: heard.view }]
    }),
  )
}

export default defineSystem({
  name: 'bullet',
  nodes: { source: node('source', 3, 'r1', 'r2'), r1: node('r1', 0, 'r2'), r2: node('r2', 0, 'r1') },
  state: jsonLines<Node>('stdout'),
  properties: {
    viewsAgree: always((state: GlobalState<Node>) =>
      settledPairs(state).every(({ told, view }) => told.join() === view.join()),
    ),
  },
  faults: { reset: 1 },
  // A handler runs to its end before the next one begins.
  overlap: 0,
  messages: frames.jsonLines(({ type, number, blocks, block }: Message) =>
    type === 'diff' ? `diff ${number} of ${blocks}` : `${type} ${block}`,
  ),
})
