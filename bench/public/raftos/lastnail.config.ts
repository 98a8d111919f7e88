import { always, defineSystem, frames, type GlobalState, jsonLines, type NodeHandle } from 'lastnail'

/** What a member prints. */
interface Member {
  readonly role: 'follower' | 'candidate' | 'leader'
  readonly term: number
  /** Index of the last entry that it takes for committed; the first has 1. */
  readonly committed: number
  /** The terms of the entries of its log. */
  readonly terms: readonly number[]
  /** For a leader, by the address of each follower: the last index of which it knows that they are equal. */
  readonly match: Readonly<Record<string, number>>
}

const names = ['n1', 'n2', 'n3']
const majority = 2
const address = (name: string) => `{{${name}.address}}:8000`

const member = (name: string) => ({
  command: ['python3', 'node.py', address(name), ...names.filter(other => other !== name).map(address)],
  env: { PYTHONPATH: process.env.SITE ?? 'site' },
})

interface Message {
  readonly type: string
  readonly term: number
  readonly success?: boolean
  readonly entries?: readonly unknown[]
}

const label = (bytes: Buffer) => {
  const { type, term, success, entries } = JSON.parse(bytes.toString()) as Message
  const what = success === false ? ' no' : entries?.length ? ` ${entries.length} entries` : ''
  return `${type} term=${term}${what}`
}

export default defineSystem({
  name: 'raftos',
  nodes: Object.fromEntries(names.map(name => [name, member(name)])),
  state: jsonLines<Member>('stdout'),
  messages: frames.datagrams(label),
  clients: Object.fromEntries(
    names.map(name => [
      `set at ${name}`,
      { run: async (nodes: Record<string, NodeHandle>) => (await nodes[name]!.udp(8080, 'v')).toString(), times: 2 },
    ]),
  ),
  faults: { drop: 2, duplicate: 2 },
  properties: {
    matchIndexGrows: always(({ nodes }: GlobalState<Member>) =>
      nodes.every(({ state, past }) => {
        const [before] = past(1)
        if (!state || !before || before.role !== 'leader' || state.role !== 'leader' || before.term !== state.term)
          return true
        return Object.entries(before.match).every(([of, index]) => state.match[of]! >= index)
      }),
    ),
    // No member ever forgets its disk: an entry that one of them has committed is in a majority of logs from then on.
    committedOnMajority: always(({ nodes }: GlobalState<Member>) =>
      nodes.every(({ state }) =>
        Array.from({ length: state?.committed ?? 0 }, (_, at) => at).every(
          at => nodes.filter(other => other.state?.terms[at] === state!.terms[at]).length >= majority,
        ),
      ),
    ),
    // An entry of the leader's own term is committed as soon as the leader knows that a majority has it.
    commitsOwnTerm: always(({ nodes }: GlobalState<Member>) =>
      nodes.every(({ state }) => {
        if (state?.role !== 'leader') return true
        const known = [state.terms.length, ...Object.values(state.match)].sort((a, b) => b - a)[majority - 1]!
        return state.committed >= known || state.terms[known - 1] !== state.term
      }),
    ),
  },
})
