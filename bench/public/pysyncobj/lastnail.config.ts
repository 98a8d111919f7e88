import { inflateSync } from 'node:zlib'
import { always, defineSystem, frames, type GlobalState, jsonLines, type NodeHandle } from 'lastnail'

/** What a member prints. */
interface Member {
  readonly role: 'follower' | 'candidate' | 'leader'
  readonly term: number
  /** Index of the last entry that it takes for committed. */
  readonly committed: number
  /** The terms of the entries of its log. */
  readonly terms: readonly number[]
  /** For a leader, by the address of each follower: the index that it sends next. */
  readonly next: Readonly<Record<string, number>>
  /** For a leader, by the address of each follower: the last index of which it knows that they are equal. */
  readonly match: Readonly<Record<string, number>>
}

const names = Array.from({ length: Number(process.env.MEMBERS ?? 2) }, (_, at) => `n${at + 1}`)
const address = (name: string) => `{{${name}.address}}:4321`

const member = (name: string) => ({
  command: ['python3', 'node.py', address(name), ...names.filter(other => other !== name).map(address)],
  env: { PYTHONPATH: process.env.SITE ?? 'site' },
  listens: [4321, 8080],
})

/** The type of a pickled message. */
const label = (message: Buffer) => {
  const text = inflateSync(message).toString('latin1')
  return (
    /request_vote|response_vote|append_entries|next_node_idx|apply_command_response|apply_command/.exec(text)?.[0] ??
    'address'
  )
}

const append = async (node: NodeHandle) => (await node.http(8080, '/append/x')).statusCode

/** Holds for each member that led before its last change and leads the same term after it. */
const whileLeading = (holds: (now: Member, before: Member) => boolean) =>
  always(({ nodes }: GlobalState<Member>) =>
    nodes.every(({ state, past }) => {
      const [before] = past(1)
      return (
        !state ||
        !before ||
        state.role !== 'leader' ||
        before.role !== 'leader' ||
        state.term !== before.term ||
        holds(state, before)
      )
    }),
  )

export default defineSystem({
  name: 'pysyncobj',
  nodes: Object.fromEntries(names.map(name => [name, member(name)])),
  state: jsonLines<Member>('stdout'),
  messages: { 4321: frames.lengthPrefixed({ bytes: 4, endian: 'little', label }), 8080: frames.http1() },
  clients: Object.fromEntries(
    names.map(name => [
      `append to ${name}`,
      { run: (nodes: Record<string, NodeHandle>) => append(nodes[name]!), times: 2 },
    ]),
  ),
  faults: { partition: 1, reset: { times: 2, only: 'connections' } },
  properties: {
    commitIndexGrows: always(({ nodes }: GlobalState<Member>) =>
      nodes.every(({ state, past }) => !state || state.committed >= (past(1)[0]?.committed ?? 0)),
    ),
    nextAfterMatch: whileLeading(({ next, match }) => Object.keys(match).every(of => next[of]! > match[of]!)),
    matchIndexGrows: whileLeading((now, before) =>
      Object.keys(now.match).every(of => now.match[of]! >= before.match[of]!),
    ),
    commitsOwnTerm: whileLeading(
      (now, before) => now.committed === before.committed || now.terms[now.committed - 1] === now.term,
    ),
  },
})
