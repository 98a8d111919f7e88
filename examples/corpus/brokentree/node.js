/**
 * A node of BrokenTree, an overlay tree that keeps reorganising itself (the draft of MaceMC, section 7.1).
 *
 *     node node.js 127.0.0.1:7000 127.0.0.1:7000     # the root: its own address, and that of the root
 *     node node.js 127.0.0.2:7000 127.0.0.1:7000
 *
 * Logs its place in the tree as a line of JSON whenever that changes.
 */
import { bug } from '../common/bug.js'
import { log, loggedBy } from '../common/log.js'
import { openPeers } from '../common/peers.js'

const childrenMax = 2
const answerMs = 1_000
const reorganiseMs = 2_000

const [self, root] = process.argv.slice(2)
const isRoot = self === root

let parent
/** Each child's attempt that it was taken in with. */
const children = new Map()
/** Children that were told to reorganise and have not said yet that they stay, or left. */
const reorganising = new Set()
/** Numbers the Joins of this node, so that a late answer is known for what it is; `adopted`: the one it has its place by. */
let attempt = 0
let adopted
/** Set while a Join of this node has no answer: the timer that gives it up. */
let waiting
let reorganiseTimer

const isJoined = () => isRoot || parent !== undefined
const isMoving = () => isJoined() && waiting !== undefined
const pick = list => list[Math.floor(Math.random() * list.length)]

const logState = () =>
  log({
    self,
    parent: parent ?? null,
    children: [...children.keys()],
    moving: isMoving(),
    reorganising: [...reorganising],
  })

const logged = loggedBy(logState)

const after = (ms, act) => setTimeout(logged(act), ms)

/** Asks for a place in the tree, from `next` on. `under`: whose child `next` has to be, so that this is not out of date. */
const join = (next, under) => {
  attempt += 1
  consider({ type: 'Join', joiner: self, attempt, under }, next)
  waiting = after(answerMs, giveUp)
}

const settle = () => {
  clearTimeout(waiting)
  waiting = undefined
}

const giveUp = () => {
  settle()
  if (isJoined()) peers.send(parent, { type: 'Stay' })
  else join(root)
}

/** Each node on the way of a Join considers it, also the one that it comes from: takes it in, or passes it on. */
const consider = (message, next) => {
  if (canAdopt(message.joiner)) adopt(message)
  else peers.send(next, message)
}

const canAdopt = joiner => isJoined() && children.size < childrenMax && (joiner !== self || bug('brokentree-self'))

const adopt = ({ joiner, attempt }) => {
  children.set(joiner, attempt)
  peers.send(joiner, { type: 'Accept', attempt })
  if (reorganiseTimer === undefined) reorganiseTimer = after(reorganiseMs, reorganise)
}

/** Tells the children to reorganise, and stays where it is itself until each of them has. */
const reorganise = () => {
  reorganiseTimer = children.size > 0 ? after(reorganiseMs, reorganise) : undefined
  if (isMoving() || reorganising.size > 0) return
  for (const child of children.keys()) {
    const siblings = [...children.keys()].filter(other => other !== child)
    reorganising.add(child)
    peers.send(child, { type: 'Reorganise', siblings, grandparent: parent })
  }
}

const on = {
  /**
   * Nobody is taken in or passed on by a node that is about to move: it could come to be under its own child. Nor by one
   * that is not where the sender takes it to be.
   */
  Join: message => {
    const { joiner, attempt, under } = message
    const mayMove = isMoving() && !bug('brokentree-loop')
    const isElsewhere = !isJoined() || (under !== undefined && under !== parent)
    if (joiner === self) on.Refuse(message)
    else if (mayMove || isElsewhere) peers.send(joiner, { type: 'Refuse', attempt })
    else consider({ ...message, under: self }, pick([...children.keys()]))
  },

  Accept: (message, peer) => {
    const isLate = message.attempt !== attempt || waiting === undefined
    if (isLate && peer !== parent) peers.send(peer, { type: 'Leave', attempt: message.attempt })
    if (isLate) return
    settle()
    if (parent === peer) peers.send(parent, { type: 'Stay' })
    else if (parent !== undefined) peers.send(parent, { type: 'Leave', attempt: adopted })
    parent = peer
    adopted = attempt
  },

  /** One that only wants to move stays where it is; one without a place asks again in a while. */
  Refuse: ({ attempt: refused }) => {
    if (refused === attempt && isMoving()) giveUp()
  },

  Leave: ({ attempt }, peer) => {
    if (attempt !== children.get(peer)) return
    children.delete(peer)
    reorganising.delete(peer)
  },

  /** Chooses by chance, where the real thing compares bandwidths. */
  Reorganise: ({ siblings, grandparent }, peer) => {
    if (peer !== parent) return
    const places = [...siblings, ...(grandparent ? [grandparent] : [])]
    const place = isMoving() || reorganising.size > 0 ? undefined : pick([undefined, ...places])
    if (place === undefined) peers.send(parent, { type: 'Stay' })
    else join(place, place === grandparent ? undefined : parent)
  },

  Stay: (_, peer) => reorganising.delete(peer),
}

/** Whoever loses its parent begins again. */
const onLost = peer => {
  children.delete(peer)
  reorganising.delete(peer)
  if (peer !== parent) return
  parent = undefined
  settle()
  join(root)
}

const peers = openPeers(self, {
  onMessage: logged((message, peer) => on[message.type]?.(message, peer)),
  onLost: logged(onLost),
  onOpen: logged(() => {
    if (!isRoot) join(root)
  }),
})
