import { inflateSync } from 'node:zlib'
import { always, defineSystem, frames, type GlobalState, jsonLines, type NodeHandle } from 'lastnail'

/** What a member prints. */
export interface Member {
  readonly role: 'follower' | 'candidate' | 'leader'
  readonly term: number
  /** Index of the last entry that it takes for committed. */
  readonly committed: number
  /** How many entries its log has, from its last snapshot on. */
  readonly entries: number
  /** The lines that were applied, in their order. */
  readonly lines: readonly string[]
}

const names = ['n1', 'n2', 'n3']
const address = (name: string) => `{{${name}.address}}:4321`

const member = (name: string) => ({
  command: ['python3', 'node.py', address(name), ...names.filter(other => other !== name).map(address)],
  env: { PYTHONPATH: 'site' },
  listens: [4321, 8080],
})

/** The type of a pickled message, and whether it is a part of a snapshot. */
const label = (message: Buffer) => {
  const text = inflateSync(message).toString('latin1')
  const type = /request_vote|response_vote|append_entries|next_node_idx|apply_command_response|apply_command/.exec(text)
  return `${type?.[0] ?? 'address'}${text.includes('serialized') ? ' snapshot' : ''}`
}

const append = (line: string) => async (node: NodeHandle) => (await node.http(8080, `/append/${line}`)).statusCode

export default defineSystem({
  name: 'pysyncobj',
  nodes: Object.fromEntries(names.map(name => [name, member(name)])),
  state: jsonLines<Member>('stdout'),
  messages: frames.lengthPrefixed({ bytes: 4, endian: 'little', label }),
  clients: {
    x: ({ n1 }) => append('x')(n1!),
    y: ({ n2 }) => append('y')(n2!),
  },
  properties: {
    sameLines: always(({ nodes }: GlobalState<Member>) => {
      const all = nodes.flatMap(({ state }) => (state ? [state.lines] : []))
      return all.every(some => all.every(others => others.every((line, at) => at >= some.length || line === some[at])))
    }),
    // A client's name is the line that it appends. No fault here makes a member forget a line that it has applied.
    linesStay: always(({ nodes, calls }: GlobalState<Member>) =>
      calls.every(({ client, value }) => value !== 200 || nodes.some(({ state }) => state?.lines.includes(client))),
    ),
  },
})
