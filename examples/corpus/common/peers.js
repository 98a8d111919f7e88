import { randomInt } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { endpoint } from './address.js'
import { parse } from './json.js'

/**
 * Messages between processes, as lines of JSON over TCP. Both directions use one connection, which is opened for the first
 * message. The first line of either end says who it is: `from`, its address, and `run`, another number whenever the process
 * starts.
 *
 * Messages to a peer arrive in the order of their sending, or the peer is lost: it refused the connection, reset or
 * closed it, or began another run. Then `onLost(peer)` is called once, and nobody knows which messages have arrived. The
 * next message opens a new connection. A peer that vanished without a word is noticed when something is sent to it.
 *
 * Handlers: `onMessage(message, peer)`, `onLost(peer)`, and `onOpen()` when `own` is listened on.
 *
 * Returns `send(peer, message)`, which is false where the message was not taken because `unsentMax` messages wait for the
 * connection to open, and `close(peer)`, which ends the connection from this side: `onLost` is not called.
 */
export const openPeers = (own, { onMessage, onLost = () => {}, onOpen = () => {}, unsentMax = Infinity }) => {
  const run = randomInt(2 ** 31)
  /** By peer. Two sockets are open where both ends opened one at once; only the first is written to. */
  const links = new Map()

  const linkTo = peer => {
    if (!links.has(peer)) links.set(peer, { sockets: [], run: undefined, unsent: 0 })
    return links.get(peer)
  }

  const isOf = (socket, peer) => links.get(peer)?.sockets.includes(socket) ?? false

  const close = peer => {
    const { sockets = [] } = links.get(peer) ?? {}
    links.delete(peer)
    for (const socket of sockets) socket.destroy()
  }

  const lose = peer => {
    close(peer)
    onLost(peer)
  }

  /** The peer says who it is: all that is open to another run of it is lost, this very socket maybe among it. */
  const meet = (socket, from, peerRun) => {
    const known = links.get(from)?.run ?? peerRun
    if (known !== peerRun) lose(from)
    if (socket.destroyed) return
    const link = linkTo(from)
    link.run = peerRun
    if (!link.sockets.includes(socket)) link.sockets.push(socket)
  }

  const receive = (socket, openedTo) => {
    let peer = openedTo
    let rest = ''
    const take = line => {
      const { from, run, ...message } = parse(line) ?? {}
      peer ??= from
      if (from !== undefined && !socket.destroyed) meet(socket, peer, run)
      if (isOf(socket, peer)) onMessage(message, peer)
    }
    socket.setNoDelay(true)
    socket.setEncoding('utf8')
    socket.on('data', chunk => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()
      for (const line of lines) take(line)
    })
    socket.on('error', () => {}) // 'close' follows
    socket.on('close', () => {
      if (isOf(socket, peer)) lose(peer)
    })
  }

  const open = peer => {
    const socket = connect(endpoint(peer))
    linkTo(peer).sockets.push(socket)
    receive(socket, peer)
    return socket
  }

  const introduced = new WeakSet()

  const send = (peer, message) => {
    const link = linkTo(peer)
    const socket = link.sockets[0] ?? open(peer)
    if (socket.connecting && link.unsent >= unsentMax) return false
    link.unsent = socket.connecting ? link.unsent + 1 : 0
    const line = introduced.has(socket) ? message : { ...message, from: own, run }
    introduced.add(socket)
    socket.write(`${JSON.stringify(line)}\n`)
    return true
  }

  createServer(socket => receive(socket)).listen(endpoint(own), onOpen)
  return { send, close }
}
