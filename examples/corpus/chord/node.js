/**
 * A node of Chord, a ring of nodes in the order of their keys (Stoica et al., 2003), as MaceMC and CrystalBall checked it.
 *
 *     node node.js 0 127.0.0.1:7000                      # begins a ring: its key and its address
 *     node node.js 2 127.0.0.2:7000 127.0.0.1:7000       # joins one through that node
 *
 * Logs its pointers as a line of JSON whenever they change.
 */
import { bug } from '../common/bug.js'
import { log, loggedBy } from '../common/log.js'
import { openPeers } from '../common/peers.js'
import { distance, fingerStarts, size, unique } from './ring.js'

const successorsMax = 2
const stabiliseMs = 1_000

const [key, address, bootstrap] = process.argv.slice(2)
const self = { key: Number(key), address }
const starts = fingerStarts(self.key)

let joined = false
/** Of a ring of one node itself, and then only. */
let predecessor = self
let successors = [self]
let fingers = starts.map(() => self)
/** Finds that arrived before this node had joined. */
const queue = []
/** Which finger is looked at next. */
let finger = 0

const isSelf = node => node.key === self.key
const others = nodes => nodes.filter(node => !isSelf(node))
const known = () => others([predecessor, ...successors, ...fingers])

const logState = () =>
  log({
    key: self.key,
    joined,
    predecessor: predecessor.key,
    successors: successors.map(({ key }) => key),
    successor: successors[0].address,
    fingers: fingers.map(({ key }) => key),
    queue: queue.length,
  })

const logged = loggedBy(logState)

const nearest = (nodes, far) => nodes.toSorted((a, b) => far(a) - far(b))[0]

const learnPredecessor = nodes => {
  predecessor = nearest([...known(), ...nodes], node => distance(node.key, self.key)) ?? self
}

const learnSuccessors = nodes => {
  const all = unique([...others(successors), ...known(), ...others(nodes)])
  const byDistance = all.toSorted((a, b) => distance(self.key, a.key) - distance(self.key, b.key))
  successors = byDistance.length > 0 ? byDistance.slice(0, successorsMax) : [self]
}

/** Whether a key lies in [start, end): nothing does where both are the same. */
const isInRange = (key, start, end) => {
  const length = bug('chord-finger-boundary') && start === end ? size : distance(start, end)
  return distance(start, key) < length
}

/** A finger points to the first node at or after its start. */
const learnFingers = nodes => {
  for (const node of nodes)
    fingers = fingers.map((finger, i) => (isInRange(node.key, starts[i], finger.key) ? node : finger))
}

/** Everything that is learnt of is taken into account for each of the pointers. */
const learn = nodes => {
  learnPredecessor(others(nodes))
  learnSuccessors(nodes)
  learnFingers(nodes)
}

const forget = lost => {
  const isLeft = node => node.address !== lost
  const left = known().filter(isLeft)
  if (!isLeft(predecessor)) predecessor = self
  successors = successors.filter(isLeft)
  if (successors.length === 0) successors = [self]
  fingers = fingers.map(finger => (isLeft(finger) ? finger : self))
  learn(left)
}

const send = (node, message) => {
  if (node.address.includes(':')) peers.send(node.address, message)
  else console.error(`cannot send ${message.type} to node ${node.key}: expected HOST:PORT, found ${node.address}`)
}

/** Keeps the pointers up to date, and joins a node that has not joined. */
const stabilise = () => {
  setTimeout(stabilise, stabiliseMs)
  finger = (finger + 1) % fingers.length
  // From the bootstrap node, so that rings that fell apart meet again.
  const first = bootstrap ? { address: bootstrap } : successors[0]
  if (first !== self) send(first, { type: 'Find', key: joined ? starts[finger] : self.key, origin: self })
  for (const node of unique(others([predecessor, fingers[finger]]))) send(node, { type: 'Ping' })
  for (const node of others(successors.slice(0, 1))) send(node, { type: 'GetPred' })
}

/** To the one who asks for the nodes around a key, or on to a node that is closer before it. */
const answer = ({ key, origin }) => {
  const far = node => distance(node.key, key) || size
  const next = nearest([self, ...known()], far)
  if (isSelf(next)) send(origin, { type: 'Found', nodes: [self, ...successors] })
  else send(next, { type: 'Find', key, origin })
}

const on = {
  /** A node that has not joined yet does not know; of each asker it keeps one question. */
  Find: message => {
    const isKnown = queue.some(({ origin }) => origin.address === message.origin.address)
    if (joined) answer(message)
    else if (!isKnown || bug('chord-queue')) queue.push(message)
  },

  /** The node before the key and its successors, to the first of which a joiner introduces itself. */
  Found: ({ nodes }) => {
    const isJoining = !joined
    joined = true
    learn(nodes)
    if (isJoining) send(nodes[1], { type: 'UpdatePred', node: self })
    for (const message of queue.splice(0)) answer(message)
  },

  GetPred: (_, peer) => {
    if (joined) peers.send(peer, { type: 'GetPredReply', node: self, predecessor, successors })
  },

  /** From the successor: whoever is between it and this node, and who comes after it. */
  GetPredReply: message => {
    const { node, predecessor } = message
    const [next] = message.successors
    const second = bug('chord-leave') ? { key: next.key, address: String(next.key) } : next
    if (node.key === successors[0].key) successors = [node, ...others([second])]
    const nodes = [node, predecessor, ...message.successors]
    if (!bug('chord-order')) learnPredecessor(others(nodes))
    learnSuccessors(nodes)
    learnFingers(nodes)
    for (const node of others(successors.slice(0, 1))) send(node, { type: 'UpdatePred', node: self })
  },

  /** From a node that takes this one for its successor, which it may be itself, by what others know of an earlier run. */
  UpdatePred: ({ node }) => {
    if (!joined || (isSelf(node) && !bug('chord-pred-self'))) return
    learnPredecessor([node])
    if (bug('chord-self-successor')) return
    learnSuccessors([node])
    learnFingers([node])
  },

  /** Asked for by an operator. */
  Leave: () => process.exit(0),
}

const peers = openPeers(address, {
  onMessage: logged((message, peer) => on[message.type]?.(message, peer)),
  onLost: logged(forget),
  onOpen: logged(() => {
    joined = bootstrap === undefined
    stabilise()
  }),
})
