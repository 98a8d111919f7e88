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

/** Whether each receiver knows what its sender has told it, where all of that has arrived. */
const viewsAgree = (state: GlobalState<Node>) => {
  const nodes = new Map(state.nodes.flatMap(({ state: node }) => (node ? [[node.self, node]] : [])))
  return [...nodes.values()].every(sender =>
    Object.entries(sender.receivers).every(([peer, { session, diffs, untold }]) => {
      const heard = nodes.get(peer)?.senders[sender.self]
      if (heard?.session !== session || heard.diffs !== diffs) return true
      const waiting = new Set(untold)
      const told = sender.blocks.filter(block => !waiting.has(block))
      return told.length === heard.view.length && told.every((block, index) => block === heard.view[index])
    }),
  )
}

export default defineSystem({
  name: 'bullet',
  nodes: { source: node('source', 3, 'r1', 'r2'), r1: node('r1', 0, 'r2'), r2: node('r2', 0, 'r1') },
  state: jsonLines<Node>('stdout'),
  properties: {
    viewsAgree: always(viewsAgree),
  },
  faults: { reset: 1 },
  // A handler runs to its end before the next one begins.
  overlap: 0,
  messages: frames.jsonLines(({ type, number, blocks, block }: Message) =>
    type === 'diff' ? `diff ${number} of ${blocks}` : `${type} ${block}`,
  ),
})
