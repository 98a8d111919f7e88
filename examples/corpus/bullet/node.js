/**
 * A node of Bullet', which distributes a file over a mesh: each node tells its receivers which blocks it has, and they ask
 * for those that they miss.
 *
 *     node node.js 127.0.0.1:7000 3 127.0.0.2:7000 127.0.0.3:7000     # the source, with 3 blocks, and its receivers
 *     node node.js 127.0.0.2:7000 0 127.0.0.3:7000                    # a node without blocks
 *
 * It logs its blocks, and what it knows of the other ends, as a line of JSON whenever that changes.
 *
 *     diff session number blocks    to a receiver: what the sender has beside what it told before in this session
 *     request block                 to a sender
 *     block block content           to a receiver
 *
 * The transport may refuse a message because its buffer is full. A session ends with the connection.
 */
import { randomInt } from 'node:crypto'
import { bug } from '../common/bug.js'
import { log } from '../common/log.js'
import { openPeers } from '../common/peers.js'

const forgetsRefused = bug('bullet-shadow-map')

/** So many messages wait for a connection to open. */
const bufferMax = 1
/** When what the transport refused is sent again, and a connection that was lost is opened again. */
const againMs = 500

const [self, blockCount, ...receiverAddresses] = process.argv.slice(2)

/** Bytes of a block, if it has more than its name. */
const blockBytes = Number(process.env.BLOCK_BYTES ?? 0)
const contentOf = block => `content of ${block}`.padEnd(blockBytes, '.')

/** Content by block: the file map is its keys. */
const blocks = new Map(Array.from({ length: Number(blockCount) }, (_, block) => [block, contentOf(block)]))

/** By block that was asked for: the sender. */
const requested = new Map()

/** What each sender said that it has: the receiver's view of its file map. */
const senders = new Map()

/** `untold` is the shadow map: the blocks that this receiver was not told about. `owed`: those that it asked for. */
const newReceiver = () => ({ session: randomInt(2 ** 31), diffs: 0, untold: new Set(blocks.keys()), owed: new Set() })
const receivers = new Map()

const sorted = set => [...set].sort((a, b) => a - b)
const logState = () => {
  const senderStates = [...senders].map(([peer, sender]) => [peer, { ...sender, view: sorted(sender.view) }])
  const receiverStates = [...receivers].map(([peer, receiver]) => [
    peer,
    { ...receiver, untold: sorted(receiver.untold), owed: sorted(receiver.owed) },
  ])
  log({
    self,
    blocks: sorted(blocks.keys()),
    requested: Object.fromEntries(requested),
    receivers: Object.fromEntries(receiverStates),
    senders: Object.fromEntries(senderStates),
  })
}

/** Tells a receiver about blocks that are new to it. A diff that the transport refuses is made anew later. */
const tell = (peer, receiver) => {
  if (receiver.untold.size === 0) return
  const { session, diffs, untold } = receiver
  const isTaken = peers.send(peer, { type: 'diff', session, number: diffs + 1, blocks: [...untold] })
  if (isTaken) receiver.diffs += 1
  if (isTaken || forgetsRefused) untold.clear()
}

const serve = (peer, { owed }) => {
  for (const block of owed) {
    if (!peers.send(peer, { type: 'block', block, content: blocks.get(block) })) return
    owed.delete(block)
  }
}

/** One request at a time to each sender. */
const request = (peer, { view }) => {
  if ([...requested.values()].includes(peer)) return
  const block = rarest([...view].filter(each => !blocks.has(each) && !requested.has(each)))
  if (block !== undefined && peers.send(peer, { type: 'request', block })) requested.set(block, peer)
}

/** Of the blocks that the fewest senders have, any. */
const rarest = candidates => {
  const copies = block => [...senders.values()].filter(({ view }) => view.has(block)).length
  const fewest = Math.min(...candidates.map(copies))
  const rare = candidates.filter(block => copies(block) === fewest)
  return rare.length > 0 ? rare[randomInt(rare.length)] : undefined
}

const isMissing = block => !blocks.has(block) && !requested.has(block)

const hasMore = () =>
  receivers.size < receiverAddresses.length ||
  [...receivers.values()].some(({ untold, owed }) => untold.size > 0 || owed.size > 0) ||
  [...senders].some(([peer, { view }]) => ![...requested.values()].includes(peer) && [...view].some(isMissing))

let isScheduled = false
/** Does what can be done now, and tries the rest later. */
const proceed = () => {
  for (const [peer, receiver] of receivers) {
    tell(peer, receiver)
    serve(peer, receiver)
  }
  for (const [peer, sender] of senders) request(peer, sender)
  if (hasMore() && !isScheduled) {
    isScheduled = true
    setTimeout(tryAgain, againMs)
  }
  logState()
}

const tryAgain = () => {
  isScheduled = false
  for (const peer of receiverAddresses) if (!receivers.has(peer)) receivers.set(peer, newReceiver())
  proceed()
}

const handlers = {
  diff: ({ session, number, blocks: told }, peer) => {
    if (senders.get(peer)?.session !== session) senders.set(peer, { session, diffs: 0, view: new Set() })
    const sender = senders.get(peer)
    sender.diffs = number
    for (const block of told) sender.view.add(block)
  },

  request: ({ block }, peer) => {
    if (blocks.has(block)) receivers.get(peer)?.owed.add(block)
  },

  block: ({ block, content }) => {
    requested.delete(block)
    if (blocks.has(block)) return
    blocks.set(block, content)
    for (const { untold } of receivers.values()) untold.add(block)
  },
}

const peers = openPeers(self, {
  unsentMax: bufferMax,
  onMessage: (message, peer) => {
    handlers[message.type]?.(message, peer)
    proceed()
  },
  // What was told or asked for may not have arrived.
  onLost: peer => {
    receivers.delete(peer)
    senders.delete(peer)
    for (const [block, sender] of requested) if (sender === peer) requested.delete(block)
    proceed()
  },
  onOpen: tryAgain,
})
