import { always, defineSystem, eventually, frames, type GlobalState, jsonLines } from 'lastnail'

/** What a node logs. */
interface Node {
  role: 'follower' | 'candidate' | 'leader'
  term: number
  leader: string
  votedFor: string | null
}

/** A packet of liferaft, as far as its label tells it. */
interface Packet {
  type: string
  term: number
  data?: { granted?: boolean }
}

const cluster = ['n1', 'n2', 'n3'].map(name => `${name}={{${name}.address}}:7000`)
const node = (name: string) => ({ command: ['node', 'node.js', name, ...cluster], listens: 7000 })

const leaders = (state: GlobalState<Node>) =>
  state.nodes.flatMap(({ state }) => (state?.role === 'leader' ? [state] : []))

const label = ({ type, term, data }: Packet) => {
  const outcome = data?.granted === undefined ? '' : data.granted ? ' granted' : ' denied'
  return `${type} term=${term}${outcome}`
}

export default defineSystem({
  name: 'liferaft',
  nodes: { n1: node('n1'), n2: node('n2'), n3: node('n3') },
  state: jsonLines<Node>('stdout'),
  properties: {
    electionSafety: always((state: GlobalState<Node>) => {
      const terms = leaders(state).map(leader => leader.term)
      return new Set(terms).size === terms.length
    }),
    someLeader: eventually((state: GlobalState<Node>) => leaders(state).length > 0),
  },
  // No faults: what is found comes from the order and the overlap of messages alone.
  faults: {},
  overlap: 1,
  messages: frames.jsonLines(label),
})
