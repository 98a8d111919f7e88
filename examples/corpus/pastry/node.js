/**
 * A node of Pastry, an overlay that routes by keys (Rowstron and Druschel, 2001), as MaceMC checked it.
 *
 *     node node.js 0 127.0.0.1:7000                      # begins an overlay: its key and its address
 *     node node.js 28 127.0.0.2:7000 127.0.0.1:7000      # joins one through that node
 *
 * Logs its leaf set and what it has of a routing table as a line of JSON whenever they change.
 */
import { bug } from '../common/bug.js'
import { openDatagrams } from '../common/datagrams.js'
import { log } from '../common/log.js'
import { apart, cell, clockwise, digits } from './keys.js'

const maintainMs = 1_000
const missedMax = 2
/** So many datagrams in a row reach a peer; what comes after them finds its buffer full. */
const burstMax = 2

const [key, address, bootstrap] = process.argv.slice(2)
const self = { key: Number(key), address }

let joined = bootstrap === undefined
/** What this node has got of what it needs to join: so many rows of routing tables, and a leaf set. */
let rowsSeen = 0
/** The next nodes on both sides, of those that this node has heard of directly. */
let left
let right
/** By cell: a node whose key begins with as many digits as the row says; heard of from anybody. */
const table = new Map()
/** Nodes that are probed, by address: how often they have not answered. */
const missed = new Map()

const logState = () =>
  log({
    key: self.key,
    joined,
    rowsSeen,
    left: left?.key ?? null,
    right: right?.key ?? null,
    table: [...table.values()].map(({ key }) => key),
    missed: [...missed.values()],
  })

const nearest = (nodes, far) => nodes.toSorted((a, b) => far(a) - far(b))[0]
const leaves = () => [left, right].filter(Boolean)
const known = () => [...leaves(), ...table.values()]

const toTheRight = node => clockwise(self.key, node.key)
const toTheLeft = node => clockwise(node.key, self.key)

const cellOf = node => {
  const { row, column } = cell(self.key, node.key)
  return `${row}.${column}`
}

/** From a node itself: it is there. */
const hear = node => {
  missed.set(node.address, 0)
  learn([node])
  left = nearest([...leaves(), node], toTheLeft)
  right = nearest([...leaves(), node], toTheRight)
}

/** From others: it may be there. To find out about all of them would cost too much. */
const learn = nodes => {
  for (const node of nodes) if (node.key !== self.key && !table.has(cellOf(node))) table.set(cellOf(node), node)
}

const forget = address => {
  const isLeft = node => node?.address !== address
  missed.delete(address)
  for (const [cell, node] of table) if (!isLeft(node)) table.delete(cell)
  const rest = leaves().filter(isLeft)
  left = nearest(rest, toTheLeft)
  right = nearest(rest, toTheRight)
}

const probe = address => datagrams.send(address, { type: 'Probe', node: self, leaves: leaves() })

/** Joins, or probes the nodes around, and those that ought to be around. */
const maintain = () => {
  setTimeout(maintain, maintainMs)
  if (joined) probeAll()
  else datagrams.send(bootstrap, { type: 'Join', node: self, firstRow: rowsSeen })
  logState()
}

const probeAll = () => {
  for (const far of [toTheLeft, toTheRight]) {
    const next = nearest(known(), far)
    if (next && !missed.has(next.address)) missed.set(next.address, 0)
  }
  for (const [address, times] of missed) {
    missed.set(address, times + 1)
    if (times < missedMax) probe(address)
    else forget(address)
  }
  // So that overlays that fell apart meet again.
  if (bootstrap && !missed.has(bootstrap) && !bug('pastry-partition')) probe(bootstrap)
}

/** Where a Join goes next: to the node nearest to the key, though not to the joiner itself, by what is known of an earlier run. */
const nextHop = joiner => {
  const others = known().filter(({ address }) => address !== joiner.address || bug('pastry-rejoin-self'))
  return nearest([self, ...others], ({ key }) => apart(key, joiner.key))
}

/** Sends a joiner what it needs next, as far as there is room for it. */
const give = (joiner, messages) => {
  for (const message of messages.slice(0, burstMax)) datagrams.send(joiner.address, message)
}

/** The rows of the own routing table from one to another; the joiner shares the cells of these as far as its digits go. */
const rows = (first, last) => {
  const numbers = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
  const ofRow = row => [self, ...[...table].filter(([cell]) => cell.startsWith(`${row}.`)).map(([, node]) => node)]
  return numbers.map(row => ({ type: 'Row', row, nodes: ofRow(row) }))
}

const on = {
  /** Each node on the way gives the rows that it has in common with the joiner, the last one all that is left. */
  Join: ({ node, firstRow }, peer) => {
    if (node.key === self.key) return
    if (!joined) {
      if (!bug('pastry-rejoin-pair')) datagrams.send(peer, { type: 'NotJoined' })
      return
    }
    const next = nextHop(node)
    if (next === self)
      return give(node, [...rows(firstRow, digits - 1), { type: 'Leaves', node: self, leaves: leaves() }])
    const { row: shared } = cell(self.key, node.key)
    give(node, rows(firstRow, shared))
    const rest = bug('pastry-row') ? 0 : Math.max(firstRow, shared + 1)
    datagrams.send(next.address, { type: 'Join', node, firstRow: rest })
  },

  /** What a joiner was given is asked for no more; the next Join begins after it. */
  Row: ({ row, nodes }) => {
    if (joined || row > rowsSeen) return
    rowsSeen = Math.max(rowsSeen, row + 1)
    learn(nodes)
  },

  Leaves: ({ node, leaves }) => {
    if (joined || rowsSeen < digits) return
    joined = true
    hear(node)
    learn(leaves)
  },

  NotJoined: (_, peer) => forget(peer),

  Probe: ({ node, leaves: theirs }, peer) => {
    if (!joined) return
    hear(node)
    learn(theirs)
    datagrams.send(peer, { type: 'Alive', node: self, leaves: leaves() })
  },

  Alive: ({ node, leaves }) => {
    if (!joined) return
    hear(node)
    learn(leaves)
  },
}

const datagrams = openDatagrams(address, {
  onMessage: (message, peer) => {
    on[message.type]?.(message, peer)
    logState()
  },
  onOpen: maintain,
})
