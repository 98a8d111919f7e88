import { defineSystem, eventually, frames, type GlobalState, jsonLines } from 'lastnail'

/** What a process logs. */
interface Node {
  isMaster: boolean
  /** Names of those that it has heard of lately. */
  sees: string[]
}

/** A datagram, as far as its label tells it. */
interface Message {
  event: string
  data: { isMaster: boolean }
}

const names = ['n1', 'n2', 'n3'] as const
const addresses = names.map(name => `{{${name}.address}}`)
const node = (name: string) => ({ command: ['node', 'node.js', name, ...addresses] })

export default defineSystem({
  name: 'node-discover',
  nodes: { n1: node('n1'), n2: node('n2'), n3: node('n3') },
  state: jsonLines<Node>('stdout'),
  properties: {
    oneMaster: eventually(({ nodes }: GlobalState<Node>) => nodes.filter(({ state }) => state?.isMaster).length === 1),
  },
  messages: frames.jsonLines(({ event, data }: Message) => `${event}${data.isMaster ? ' of a master' : ''}`),
})
