import { always, eventually } from '../../../checker/property.ts'
import { Model, type ModelOptions, type Transition } from './model.ts'

/**
 * Leader election in the shape of the npm package `liferaft`: the handler of a vote request awaits its log between the
 * check and the vote, so two requests that enter in one step are both granted. Connections are opened at the start,
 * one in each direction of each pair; an open, its acceptance and each request and answer are messages.
 */
export interface Raft {
  readonly nodes: RaftNode[]
  /** Each connection's two directions, first in first out. `from` opened it. */
  readonly connections: Connection[]
  readonly sent: number[]
  readonly overlaps: number
}

interface RaftNode {
  role: 'follower' | 'candidate' | 'leader'
  term: number
  vote: number | null
  granted: number
}

interface Connection {
  readonly from: number
  readonly to: number
  open: boolean
  forward: Message[]
  backward: Message[]
  /** Written before the connection is open. */
  waiting: Message[]
}

interface Message {
  readonly ordinal: number
  readonly type: 'open' | 'accept' | 'vote' | 'voted' | 'append' | 'appended'
  readonly term: number
  readonly granted?: boolean
  readonly leader?: boolean
}

export interface RaftOptions extends ModelOptions {
  readonly size?: number
  readonly overlaps?: number
  /** The correct build: check and vote in one go. */
  readonly atomic?: boolean
}

/** An input of a node: what runs at once, and what runs after every input of the step has come so far. */
type Input = (state: Raft) => (() => void) | undefined

export const raft = ({ size = 3, overlaps = 1, atomic = false, ...options }: RaftOptions = {}): Model<Raft> => {
  const ids = Array.from({ length: size }, (_, i) => i)
  const pairs = ids.flatMap(from => ids.filter(to => to !== from).map(to => [from, to] as const))
  const initial: Raft = {
    nodes: ids.map(() => ({ role: 'follower', term: 0, vote: null, granted: 0 })),
    connections: pairs.map(([from, to]) => ({
      from,
      to,
      open: false,
      forward: [{ ordinal: 1, type: 'open', term: 0 }],
      backward: [],
      waiting: [],
    })),
    sent: ids.flatMap(from => ids.map(to => (from === to ? 0 : 1))),
    overlaps,
  }

  const message = (state: Raft, from: number, to: number, content: Omit<Message, 'ordinal'>): Message => ({
    ordinal: ++state.sent[from * size + to]!,
    ...content,
  })

  const request = (state: Raft, from: number, type: 'vote' | 'append') => {
    for (const connection of state.connections.filter(each => each.from === from)) {
      const { term, role } = state.nodes[from]!
      const sent = message(state, from, connection.to, { type, term, leader: role === 'leader' })
      ;(connection.open ? connection.forward : connection.waiting).push(sent)
    }
  }

  const adopt = (node: RaftNode, term: number) => {
    node.role = 'follower'
    if (term !== node.term) Object.assign(node, { term, vote: null, granted: 0 })
  }

  const receive = (state: Raft, index: number, direction: 'forward' | 'backward'): (() => void) | undefined => {
    const connection = state.connections[index]!
    const received = connection[direction].shift()!
    const self = direction === 'forward' ? connection.to : connection.from
    const peer = direction === 'forward' ? connection.from : connection.to
    const node = state.nodes[self]!
    const answer = (content: Omit<Message, 'ordinal'>) => {
      connection.backward.push(message(state, self, peer, content))
    }
    if (received.type === 'open') {
      answer({ type: 'accept', term: 0 })
      return undefined
    }
    if (received.type === 'accept') {
      connection.open = true
      connection.forward.push(...connection.waiting.splice(0))
      return undefined
    }
    if (received.term < node.term) return undefined
    if (received.term > node.term) adopt(node, received.term)
    if (received.leader) node.role = 'follower'
    if (received.type === 'append') answer({ type: 'appended', term: node.term })
    if (received.type === 'voted' && node.role === 'candidate' && received.granted) {
      node.granted += 1
      if (node.granted * 2 > size) {
        node.role = 'leader'
        request(state, self, 'append')
      }
    }
    if (received.type !== 'vote') return undefined
    const refused = node.vote !== null && node.vote !== peer
    const grant = () => {
      if (!refused) node.vote = peer
      answer({ type: 'voted', term: node.term, granted: !refused })
    }
    if (refused || atomic) {
      grant()
      return undefined
    }
    return grant
  }

  const timeout = (state: Raft, self: number) => {
    const node = state.nodes[self]!
    if (node.role === 'leader') {
      request(state, self, 'append')
      return
    }
    Object.assign(node, { role: 'candidate', term: node.term + 1, vote: self, granted: 1 })
    request(state, self, 'vote')
  }

  const enter =
    (state: Raft, inputs: readonly Input[], spent: number): (() => Raft) =>
    () => {
      const next = structuredClone(state) as Raft & { overlaps: number }
      next.overlaps -= spent
      const rest = inputs.map(input => input(next))
      for (const finish of rest) finish?.()
      return next
    }

  const inputsOf = (state: Raft) => {
    const inputs: { node: number; kind: 'deliver' | 'timer'; label: string; input: Input }[] = []
    for (const [index, connection] of state.connections.entries()) {
      for (const direction of ['forward', 'backward'] as const) {
        const [head] = connection[direction]
        if (!head) continue
        const [from, to] = direction === 'forward' ? [connection.from, connection.to] : [connection.to, connection.from]
        inputs.push({
          node: to,
          kind: 'deliver',
          label: `n${from + 1}→n${to + 1} #${head.ordinal} ${head.type} term=${head.term}`,
          input: next => receive(next, index, direction),
        })
      }
    }
    for (const node of ids) {
      const input: Input = next => {
        timeout(next, node)
        return undefined
      }
      inputs.push({ node, kind: 'timer', label: `n${node + 1} timer`, input })
    }
    return inputs
  }

  return new Model<Raft>(
    initial,
    state => {
      const inputs = inputsOf(state)
      const choices: Transition<Raft>[] = inputs.map(({ node, kind, label, input }) => ({
        kind,
        node: `n${node + 1}`,
        label,
        next: enter(state, [input], 0),
      }))
      if (state.overlaps === 0) return choices
      for (const first of inputs) {
        for (const second of inputs) {
          if (first === second || first.node !== second.node) continue
          choices.push({
            kind: 'overlap',
            node: `n${first.node + 1}`,
            label: `n${first.node + 1} ⟨${first.label} | ${second.label}⟩`,
            joins: [first.label, second.label],
            next: enter(state, [first.input, second.input], 1),
          })
        }
      }
      return choices
    },
    options,
  )
}

export const electionSafety = always<Raft>(({ nodes }) => {
  const terms = nodes.filter(node => node.role === 'leader').map(node => node.term)
  return new Set(terms).size === terms.length
})

export const someLeader = eventually<Raft>(({ nodes }) => nodes.some(node => node.role === 'leader'))
