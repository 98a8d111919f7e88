import { always, eventually } from '../../../checker/system/property.ts'
import { Model, type ModelOptions, type Transition } from './model.ts'

/**
 * Leader election as `examples/liferaft` does it, choice for choice: the handler of a vote request awaits its log between
 * the check and the vote, so two requests that enter in one step are both granted. A node opens one connection to each
 * peer for its first request to it, and answers come back on that.
 */
export interface Raft {
  readonly nodes: RaftNode[]
  /** Each connection's two directions, first in first out. `from` opens it. */
  readonly connections: Connection[]
  /** Messages sent so far, by `from * size + to`. */
  readonly sent: number[]
  overlaps: number
}

interface RaftNode {
  role: 'follower' | 'candidate' | 'leader'
  term: number
  leader: number | null
  vote: number | null
  granted: number
}

interface Connection {
  readonly from: number
  readonly to: number
  state: 'closed' | 'opening' | 'open'
  forward: Message[]
  backward: Message[]
  /** Written before the connection is open. */
  waiting: Message[]
}

interface Message {
  readonly type: 'open' | 'accept' | 'vote' | 'voted' | 'append' | 'error'
  readonly ordinal: number
  readonly term: number
  readonly granted?: boolean
  /** Of the sender, when it sent this. */
  readonly isLeader?: boolean
  readonly leader?: number | null
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
    nodes: ids.map(() => ({ role: 'follower', term: 0, leader: null, vote: null, granted: 0 })),
    connections: pairs.map(([from, to]) => {
      return { from, to, state: 'closed', forward: [], backward: [], waiting: [] }
    }),
    sent: Array(size * size).fill(0),
    overlaps,
  }

  type Content = Pick<Message, 'type' | 'granted'>

  // An ordinal is given when the network has the message, not when it is written.
  const put = (state: Raft, from: number, to: number, queue: Message[], message: Message) => {
    state.sent[from * size + to]! += 1
    queue.push({ ...message, ordinal: state.sent[from * size + to]! })
  }

  const packet = (node: RaftNode, content: Content): Message => {
    return { ...content, ordinal: 0, term: node.term, isLeader: node.role === 'leader', leader: node.leader }
  }

  const request = (state: Raft, from: number, type: 'vote' | 'append') => {
    const node = state.nodes[from]!
    for (const connection of state.connections) {
      const { to, forward } = connection
      if (connection.from !== from || to === node.leader) continue
      if (connection.state === 'open') {
        put(state, from, to, forward, packet(node, { type }))
        continue
      }
      connection.waiting.push(packet(node, { type }))
      if (connection.state === 'closed') put(state, from, to, forward, packet(node, { type: 'open' }))
      connection.state = 'opening'
    }
  }

  const changeTerm = (node: RaftNode, term: number) => {
    if (term !== node.term) Object.assign(node, { term, vote: null, granted: 0 })
  }

  const receive = (state: Raft, index: number, direction: 'forward' | 'backward'): (() => void) | undefined => {
    const connection = state.connections[index]!
    const received = connection[direction].shift()!
    const [self, peer] = direction === 'forward' ? [connection.to, connection.from] : [connection.from, connection.to]
    const node = state.nodes[self]!
    const answer = (content: Content) => {
      // An answer has no answer.
      if (direction === 'forward') put(state, self, peer, connection.backward, packet(node, content))
    }
    if (received.type === 'open') {
      answer({ type: 'accept' })
      return undefined
    }
    if (received.type === 'accept') {
      connection.state = 'open'
      for (const waiting of connection.waiting.splice(0)) put(state, self, peer, connection.forward, waiting)
      return undefined
    }
    if (received.term < node.term) {
      answer({ type: 'error' })
      return undefined
    }
    if (received.term > node.term) {
      Object.assign(node, { role: 'follower', leader: received.isLeader ? peer : (received.leader ?? node.leader) })
      changeTerm(node, received.term)
    }
    if (received.isLeader) Object.assign(node, { role: 'follower', leader: peer })
    if (received.type === 'voted' && node.role === 'candidate') {
      if (received.granted) node.granted += 1
      if (node.granted * 2 > size) {
        Object.assign(node, { role: 'leader', leader: self })
        request(state, self, 'append')
      }
    }
    if (received.type !== 'vote') return undefined
    if (node.vote !== null && node.vote !== peer) {
      answer({ type: 'voted', granted: false })
      return undefined
    }
    const grant = () => {
      Object.assign(node, { vote: peer, leader: peer })
      changeTerm(node, received.term)
      answer({ type: 'voted', granted: true })
    }
    if (!atomic) return grant
    grant()
    return undefined
  }

  const timeout = (state: Raft, self: number) => {
    const node = state.nodes[self]!
    if (node.role === 'leader') {
      request(state, self, 'append')
      return
    }
    Object.assign(node, { role: 'candidate', term: node.term + 1, leader: null, vote: self, granted: 1 })
    request(state, self, 'vote')
  }

  const enter =
    (state: Raft, inputs: readonly Input[], spent: number): (() => Raft) =>
    () => {
      const next = structuredClone(state)
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
          label: `n${from + 1}→n${to + 1} #${head.ordinal} ${meaning(head)}`,
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
            label: `overlap ${first.label} & ${second.label}`,
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

const meaning = ({ type, term, granted }: Message): string => {
  if (type === 'open' || type === 'accept') return `${type} :7000`
  const outcome = granted === undefined ? '' : granted ? ' granted' : ' denied'
  return `${type} term=${term}${outcome}`
}

export const electionSafety = always<Raft>(({ nodes }) => {
  const terms = nodes.filter(node => node.role === 'leader').map(node => node.term)
  return new Set(terms).size === terms.length
})

export const someLeader = eventually<Raft>(({ nodes }) => nodes.some(node => node.role === 'leader'))
