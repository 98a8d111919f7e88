import { always, defineSystem, eventually, frames, type GlobalState, jsonLines } from 'lastnail'

/** What a node logs. */
export interface Node {
  role: 'follower' | 'candidate' | 'leader'
  term: number
  leader: string
  votedFor: string | null
  /** Commands, in their order. */
  committed: string[]
}

/** A packet of liferaft, as far as its label tells it. */
interface Packet {
  type: string
  term: number
  data?: { granted?: boolean }
}

/** The nodes of a cluster that run one of the programs. */
export const nodesOf = (names: readonly string[], ...program: readonly string[]) => {
  const cluster = names.map(name => `${name}={{${name}.address}}:7000`)
  return Object.fromEntries(names.map(name => [name, { command: [...program, name, ...cluster] }]))
}

/** Each has begun when it listens. */
export const overTcp = (names: readonly string[]) =>
  Object.fromEntries(
    Object.entries(nodesOf(names, 'node', 'node.js')).map(([name, node]) => [name, { ...node, listens: 7000 }]),
  )

const leaders = (state: GlobalState<Node>) =>
  state.nodes.flatMap(({ state }) => (state?.role === 'leader' ? [state] : []))

export const hasLeader = eventually((state: GlobalState<Node>) => leaders(state).length > 0)

const label = ({ type, term, data }: Packet) => {
  const outcome = data?.granted === undefined ? '' : data.granted ? ' granted' : ' denied'
  return `${type} term=${term}${outcome}`
}

export default defineSystem({
  name: 'liferaft',
  nodes: overTcp(['n1', 'n2', 'n3']),
  state: jsonLines<Node>('stdout'),
  properties: {
    electionSafety: always((state: GlobalState<Node>) => {
      const terms = leaders(state).map(leader => leader.term)
      return new Set(terms).size === terms.length
    }),
    someLeader: hasLeader,
  },
  // No faults: what is found comes from the order and the overlap of messages alone.
  faults: {},
  overlap: 1,
  messages: frames.jsonLines(label),
})
