/**
 * A node of Chord, a ring of nodes in the order of their keys (Stoica et al., 2003), as MaceMC and CrystalBall checked it.
 *
 *     node node.js 0 127.0.0.1:7000                      # begins a ring: its key and its address
 *     node node.js 2 127.0.0.2:7000 127.0.0.1:7000       # joins one through that node
 *
 * Logs its pointers as a line of JSON whenever they change.
 */
import { bug } from '../common/bug.js'
import { log } from '../common/log.js'
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
let queue = []
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
