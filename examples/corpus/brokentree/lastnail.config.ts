import { always, defineSystem, frames, type GlobalState, jsonLines } from 'lastnail'

/** What a node logs; nodes are named by their addresses. */
interface Node {
  self: string
  parent: string | null
  children: string[]
}

interface Message {
  type: string
  joiner?: string
  attempt?: number
}

const names = ['root', 'a', 'b', 'c']
const address = (name: string) => `{{${name}.address}}:7000`
const env = { BUG: process.env.BUG ?? '' }
const nodes = Object.fromEntries(
  names.map(name => [
    name,
    { command: ['node', '--no-memory-reducer', 'node.js', address(name), address('root')], env, listens: 7000 },
  ]),
)

/** Whether the way from a node up its parents comes to an end. */
const hasLoop = (state: GlobalState<Node>) => {
  const parents = new Map(state.nodes.flatMap(({ state }) => (state ? [[state.self, state.parent]] : [])))
  const endsFrom = (node: string) => {
    let above: string | null | undefined = node
    for (let steps = 0; above && steps <= parents.size; steps++) above = parents.get(above)
    return !above
  }
  return ![...parents.keys()].every(endsFrom)
}

export default defineSystem({
  name: 'brokentree',
  nodes,
  state: jsonLines<Node>('stdout'),
  properties: {
    noLoops: always((state: GlobalState<Node>) => !hasLoop(state)),
  },
  // As in the paper: connections do not break. Whoever moves while they do may come to be in a loop.
  faults: {},
  messages: frames.jsonLines(({ type, joiner, attempt }: Message) =>
    [type, joiner && `of .${joiner.match(/\d+(?=:)/)}`, attempt].filter(Boolean).join(' '),
  ),
})
