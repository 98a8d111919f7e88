import { always, defineSystem, frames, type GlobalState, jsonLines } from 'lastnail'

interface Member {
  chosen: string | null
}

interface Message {
  type: string
  number?: number
  round?: number
  value?: string | { type: string }
  slot?: number
  message?: Message
}

const names = ['n1', 'n2', 'n3'] as const
const address = (name: string) => `{{${name}.address}}:7000`
const member = (name: string, value: string) => ({
  command: ['node', '--no-memory-reducer', 'node.js', address(name), 'disk', value, ...names.map(address)],
  env: { BUG: process.env.BUG ?? '' },
})

const label = ({ type, number, round, value, slot, message }: Message): string => {
  if (message) return `slot ${slot}: ${label(message)}`
  const content = typeof value === 'object' ? value.type : value
  return [type, number ?? round, content].filter(part => part !== undefined).join(' ')
}

export default defineSystem({
  name: 'onepaxos',
  nodes: { n1: member('n1', 'red'), n2: member('n2', 'green'), n3: member('n3', 'blue') },
  state: jsonLines<Member>('stdout'),
  properties: {
    agreement: always(({ nodes }: GlobalState<Member>) => {
      const chosen = nodes.flatMap(({ state }) => state?.chosen ?? [])
      return new Set(chosen).size <= 1
    }),
  },
  faults: { reset: 1 },
  // A handler runs to its end before the next one begins.
  overlap: 0,
  messages: frames.jsonLines(label),
})
