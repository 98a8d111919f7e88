/**
 * A Raft node whose packets are lines of JSON over TCP.
 *
 *     node node.js n1 n1=127.0.0.1:7000 n2=127.0.0.2:7000 n3=127.0.0.3:7000
 */
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { endpoint, logState, name, peers, raft } from './raft.js'

/** Calls `take` with each packet that arrives; a peer that sends anything else is cut off. */
const receive = (socket, take) => {
  const lines = createInterface({ input: socket })
  lines.on('error', () => socket.destroy())
  lines.on('line', line => {
    try {
      take(JSON.parse(line))
    } catch (error) {
      socket.destroy(error)
    }
  })
}

const send = (socket, packet, sent) => socket.write(`${JSON.stringify(packet)}\n`, sent)

/**
 * How liferaft writes to a peer: over one connection, opened for the first packet and for the next one after it was
 * lost. An answer comes back on it, and is a packet like any other; many packets have none.
 */
const writer = peer => {
  let socket
  return (packet, written) => {
    if (!socket) {
      socket = connect({ ...endpoint(peer), noDelay: true })
      socket.on('close', () => {
        socket = undefined
      })
      receive(socket, answer => raft.emit('data', answer))
    }
    send(socket, packet, error => written(error))
  }
}

for (const peer of peers) raft.join(peer, writer(peer))

createServer({ noDelay: true }, socket =>
  receive(socket, packet =>
    raft.emit('data', packet, async answer => {
      // Where liferaft refuses a stale term it hands over a promise, and where it has nothing to say, nothing.
      const reply = await answer
      if (reply) send(socket, reply)
    }),
  ),
).listen(endpoint(name), logState)
