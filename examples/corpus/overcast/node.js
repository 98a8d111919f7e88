/**
 * A node of Overcast, an overlay tree that keeps reorganising itself, with locks (the draft of MaceMC, section 7.2).
 *
 *     node node.js 127.0.0.1:7000 127.0.0.1:7000     # the root: its own address, and that of the root
 *     node node.js 127.0.0.2:7000 127.0.0.1:7000
 *
 * Logs its place in the tree and the lock on it as a line of JSON whenever they change.
 */
import { bug } from '../common/bug.js'
import { log, loggedBy } from '../common/log.js'
import { openPeers } from '../common/peers.js'

const childrenMax = 2
const joinAgainMs = 1_000
const maintainMs = 2_000

const [self, root] = process.argv.slice(2)
const isRoot = self === root

let parent
/** From the root to the parent, as the parent told. */
let path = []
/** Each child's attempt that it was taken in with. */
const children = new Map()
/** Numbers the Joins of this node, so that a late answer is known for what it is; `adopted`: the one it has its place by. */
let attempt = 0
let adopted
/** Set while this node has no place. */
let joinTimer
/** The node that this one has asked to lock itself, and is going to join if it likes it. */
let target
/** The node that this one is locked by: until it is unlocked it neither moves nor probes. */
let lockedBy

const isJoined = () => isRoot || parent !== undefined
const hasRoom = () => children.size < childrenMax
const pick = list => list[Math.floor(Math.random() * list.length)]

const logState = () =>
  log({
    self,
    parent: parent ?? null,
    path,
    children: [...children.keys()],
    target: target ?? null,
    lockedBy: lockedBy ?? null,
  })

const logged = loggedBy(logState)

const after = (ms, act) => setTimeout(logged(act), ms)

/** Asks the root for a place, again until there is one, but not while locked. */
const join = () => {
  joinTimer = after(joinAgainMs, join)
  if (lockedBy === undefined) peers.send(root, { type: 'Join', joiner: self, attempt: ++attempt })
}

const adopt = (joiner, attempt) => {
  children.set(joiner, attempt)
  peers.send(joiner, { type: 'Accept', attempt })
}

/** Whoever has no parent begins again. */
const orphan = () => {
  parent = undefined
  path = []
  endMove()
  clearTimeout(joinTimer)
  join()
}

const endMove = () => {
  if (target !== undefined) peers.send(target, { type: 'Unlock' })
  target = undefined
}

/** Tells the neighbours what they need to know, and notices those that vanished without a word. */
const maintain = () => {
  after(maintainMs, maintain)
  if (parent !== undefined) peers.send(parent, { type: 'Here', attempt: adopted })
  if (lockedBy !== undefined) peers.send(lockedBy, { type: 'StillLocked' })
  for (const [child, attempt] of children) {
    const siblings = [...children.keys()].filter(other => other !== child)
    peers.send(child, { type: 'Reorganise', attempt, siblings, grandparent: parent, path: [...path, self] })
  }
}

const on = {
  /** Passed on until there is room. */
  Join: ({ joiner, attempt }) => {
    if (!isJoined() || joiner === self) return
    if (hasRoom()) adopt(joiner, attempt)
    else peers.send(pick([...children.keys()]), { type: 'Join', joiner, attempt })
  },

  /** From a node that holds the lock. */
  Move: ({ attempt }, peer) => {
    if (isJoined() && hasRoom() && peer === lockedBy) adopt(peer, attempt)
    else peers.send(peer, { type: 'Refuse', attempt })
  },

  Accept: (message, peer) => {
    const isWanted = message.attempt === attempt && (target !== undefined || !isJoined()) && lockedBy === undefined
    if (!isWanted) {
      if (peer !== parent || message.attempt !== adopted) peers.send(peer, { type: 'Leave', attempt: message.attempt })
      return
    }
    if (parent !== undefined) peers.send(parent, { type: 'Leave', attempt: adopted })
    clearTimeout(joinTimer)
    parent = peer
    path = []
    adopted = attempt
    endMove()
  },

  Refuse: ({ attempt: refused }) => {
    if (refused === attempt) endMove()
  },

  Leave: ({ attempt }, peer) => {
    if (attempt === children.get(peer)) children.delete(peer)
  },

  Here: ({ attempt }, peer) => {
    if (attempt !== children.get(peer)) peers.send(peer, { type: 'Remove', attempt })
  },

  Remove: ({ attempt }, peer) => {
    if (peer === parent && attempt === adopted) orphan()
  },

  /** Chooses by chance, where the real thing compares bandwidths. One that is above itself leaves the loop. */
  Reorganise: ({ attempt, siblings, grandparent, path: pathOfParent }, peer) => {
    if (peer !== parent || attempt !== adopted) return peers.send(peer, { type: 'Leave', attempt })
    path = pathOfParent
    if (path.includes(self)) {
      peers.send(parent, { type: 'Leave', attempt })
      return orphan()
    }
    if (target !== undefined || lockedBy !== undefined) return
    target = pick([undefined, ...siblings, ...(grandparent ? [grandparent] : [])])
    if (target !== undefined) peers.send(target, { type: 'Lock', under: target === grandparent ? undefined : parent })
  },

  /** A node that moves itself is not locked, nor one that is not where the other takes it to be. */
  Lock: ({ under }, peer) => {
    const isFree = lockedBy === undefined && target === undefined && (under === undefined || under === parent)
    if (isFree) lockedBy = peer
    peers.send(peer, { type: isFree ? 'Locked' : 'Denied' })
  },

  Locked: (_, peer) => peers.send(peer, { type: peer === target ? 'Probe' : 'Unlock' }),

  Denied: (_, peer) => {
    if (peer === target) target = undefined
  },

  Probe: (_, peer) => peers.send(peer, { type: 'Probed' }),

  Probed: (_, peer) => {
    if (peer !== target) return
    if (pick([true, false])) peers.send(target, { type: 'Move', attempt: ++attempt })
    else endMove()
  },

  Unlock: (_, peer) => {
    if (peer === lockedBy) lockedBy = undefined
  },
}

const onLost = peer => {
  children.delete(peer)
  if (peer === lockedBy && !bug('overcast-lost-unlock')) lockedBy = undefined
  if (peer === target) target = undefined
  if (peer === parent) orphan()
}

const peers = openPeers(self, {
  onMessage: logged((message, peer) => on[message.type]?.(message, peer)),
  onLost: logged(onLost),
  onOpen: logged(() => {
    if (!isRoot) join()
    after(maintainMs, maintain)
  }),
})
