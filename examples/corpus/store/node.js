/**
 * A node of a replicated store, after BitVault: three replicas of every object, on any nodes, and an index of where they
 * are, in the memory of the node that owns the object.
 *
 *     node node.js 127.0.0.1:7000 disk/1 127.0.0.1:7000 127.0.0.2:7000 127.0.0.3:7000 127.0.0.4:7000
 *
 * Arguments: its own address, the directory of its disk, and the addresses of all nodes. It logs what it holds and what it
 * indexes as a line of JSON whenever that changes.
 *
 *     put object content          from a client to the owner
 *     drain to                    from an operator: all that is here, or comes here, is to be moved to that node
 *     store object content        keep a replica; `isMove`: and tell the sender that it is `kept`
 *     stored object               to the owner: there is a replica here
 *     spare object                to the owner: the replica here is one too many, since it was copied
 *     copy object to              from the owner: have another node store it
 *     drop object, dropped object from the owner, and back to it
 *     holds objects               to a node that was lost: all that is held here of what that node owns; it answers the same
 */
import { createHash } from 'node:crypto'
import { bug } from '../common/bug.js'
import { log } from '../common/log.js'
import { openPeers } from '../common/peers.js'
import { openDisk } from '../paxos/disk.js'
import { Index } from './index.js'

const moversDelete = bug('store-replica-race')
const ignoresShortFailures = bug('store-transient')

const replicas = 3
/** How often the owner looks after an object that has too many or too few replicas. */
const maintainMs = 5_000
const reconnectMs = 2_000
/** A node that was lost for so long has failed. */
const failedAfterMs = 15_000

const [self, directory, ...members] = process.argv.slice(2)

const others = members.filter(member => member !== self)
const ownerOf = object => members[createHash('sha1').update(object).digest().readUInt32BE() % members.length]

const disk = openDisk(directory)
const saved = disk.load()
/** Content by object: what this node holds. */
const held = new Map(saved)
/** Where the objects are that this node owns. */
const index = new Index(replicas)
/** Nodes that were lost and not heard of since: those that have failed, and the timers of those that will have. */
const failed = new Set()
const failing = new Map()

const logState = () => log({ self, holds: [...held.keys()].sort(), index: index.state })

/** Replicas are on disk before anybody is told of them. */
const save = () => disk.save([...held])

const tell = (peer, message) => {
  if (peer === self) handlers[message.type](message, self)
  else peers.send(peer, message)
}

const handlers = {
  put: ({ object, content }) => {
    for (const peer of others.slice(0, replicas)) tell(peer, { type: 'store', object, content })
  },

  drain: ({ to }) => {
    drainTo = to
    for (const object of held.keys()) move(object)
  },

  store: ({ object, content, isMove }, sender) => {
    held.set(object, content)
    save()
    tell(ownerOf(object), { type: 'stored', object })
    if (isMove) tell(sender, { type: 'kept', object })
    if (drainTo) move(object)
  },

  /** Only the owner has replicas deleted: two that delete at once could delete one too many. */
  kept: ({ object }) => {
    if (moversDelete) forget(object)
    tell(ownerOf(object), { type: 'spare', object })
  },

  copy: ({ object, to }) => {
    if (held.has(object)) tell(to, { type: 'store', object, content: held.get(object) })
  },

  drop: ({ object }, owner) => {
    forget(object)
    tell(owner, { type: 'dropped', object })
  },

  stored: ({ object }, holder) => index.add(object, holder),
  dropped: ({ object }, holder) => index.remove(object, holder),
  spare: ({ object }, holder) => index.markSpare(object, holder),

  holds: ({ objects, isAnswer }, holder) => {
    index.replace(holder, objects)
    if (!isAnswer) introduceAgain(holder, true)
  },
}

/** Where another node is to carry this one's load. */
let drainTo
const move = object => tell(drainTo, { type: 'store', object, content: held.get(object), isMove: true })

const forget = object => {
  held.delete(object)
  save()
}

let isScheduled = false
/** The owner's routine: it runs while an object that it owns has too many or too few replicas. */
const maintain = () => {
  isScheduled = false
  for (const { object, holders } of index.lacking()) {
    const target = [...others, self].find(member => !holders.includes(member) && !isLost(member))
    if (target) tell(holders[0], { type: 'copy', object, to: target })
  }
  for (const { object, victim } of index.takeExtra(isLost)) tell(victim, { type: 'drop', object })
}

const settle = () => {
  if (!index.isComplete && !isScheduled) {
    isScheduled = true
    setTimeout(act, maintainMs, maintain)
  }
  logState()
}

const act = deed => {
  deed()
  settle()
}

const introduce = (peer, isAnswer = false) =>
  tell(peer, { type: 'holds', objects: [...held.keys()].filter(object => ownerOf(object) === peer), isAnswer })

/** However soon a node is back, its memory may be empty: it is told what it has to index. */
const introduceAgain = (peer, isAnswer) => {
  if (ignoresShortFailures && !failed.has(peer)) tell(peer, { type: 'alive' })
  else introduce(peer, isAnswer)
}

const isLost = peer => failing.has(peer) || failed.has(peer)

/** A lost node has failed when it is not heard of for long. */
const watch = peer => {
  if (isLost(peer)) return
  const timer = setTimeout(act, failedAfterMs, () => fail(peer))
  failing.set(peer, timer)
}

const fail = peer => {
  failing.delete(peer)
  failed.add(peer)
  index.replace(peer, [])
}

const hear = peer => {
  clearTimeout(failing.get(peer))
  failing.delete(peer)
  if (failed.delete(peer)) introduce(peer)
}

const peers = openPeers(self, {
  onMessage: (message, peer) => {
    hear(peer)
    act(() => handlers[message.type]?.(message, peer))
  },
  onLost: peer => {
    if (!members.includes(peer)) return
    index.markUnsure(peer)
    setTimeout(act, reconnectMs, () => introduceAgain(peer))
    watch(peer)
    settle()
  },
  onOpen: () => {
    for (const object of held.keys()) if (ownerOf(object) === self) index.add(object, self)
    // Nobody can remember a node that never was there.
    if (saved) for (const peer of others) introduce(peer)
    else save()
    settle()
  },
})
