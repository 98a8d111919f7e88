/**
 * A Raft node: liferaft as published, its log in memory, its packets as lines of JSON over TCP.
 *
 *     node node.js n1 n1=127.0.0.1:7000 n2=127.0.0.2:7000 n3=127.0.0.3:7000
 *
 * The first argument is its own name, the others name the whole cluster. It logs its state as a line of JSON whenever
 * that changes.
 */
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import LifeRaft from 'liferaft'
import Log from 'liferaft/log.js'
import memdown from 'memdown'

const [name, ...members] = process.argv.slice(2)
const cluster = new Map(members.map(member => member.split('=')))
if (!cluster.has(name)) {
  console.error('usage: node node.js NAME NAME=HOST:PORT ..., with the own name among the others')
  process.exit(64)
}

const endpoint = member => {
  const [host, port] = cluster.get(member).split(':')
  return { host, port: Number(port), noDelay: true }
}

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

const raft = new LifeRaft(name, { Log, adapter: memdown })

/**
 * How liferaft writes to a peer: over one connection, opened for the first packet and for the next one after it was
 * lost. An answer comes back on it, and is a packet like any other; many packets have none.
 */
const writer = peer => {
  let socket
  return (packet, written) => {
    if (!socket) {
      socket = connect(endpoint(peer))
      socket.on('close', () => {
        socket = undefined
      })
      receive(socket, answer => raft.emit('data', answer))
    }
    send(socket, packet, error => written(error))
  }
}

for (const peer of cluster.keys()) if (peer !== name) raft.join(peer, writer(peer))

let logged
/** Logs the state when the turn that changed it is over: liferaft changes its fields one by one. */
const logState = () =>
  queueMicrotask(() => {
    const { state, term, leader, votes } = raft
    const line = JSON.stringify({ role: LifeRaft.states[state].toLowerCase(), term, leader, votedFor: votes.for })
    if (line !== logged) console.log(line)
    logged = line
  })

for (const event of ['state change', 'term change', 'leader change', 'vote']) raft.on(event, logState)

createServer(endpoint(name), socket =>
  receive(socket, packet =>
    raft.emit('data', packet, async answer => {
      // Where liferaft refuses a stale term it hands over a promise, and where it has nothing to say, nothing.
      const reply = await answer
      if (reply) send(socket, reply)
    }),
  ),
).listen(endpoint(name), logState)
