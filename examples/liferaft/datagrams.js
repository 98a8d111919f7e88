/**
 * A Raft node whose packets are datagrams of JSON: an answer is one too, and so may be lost, late, or come twice.
 *
 *     node datagrams.js n1 n1=127.0.0.1:7000 n2=127.0.0.2:7000 n3=127.0.0.3:7000
 */
import { createSocket } from 'node:dgram'
import { endpoint, logState, name, peers, raft } from './raft.js'

const socket = createSocket('udp4')

const send = (packet, { host, port }, sent) => socket.send(JSON.stringify(packet), port, host, sent)

for (const peer of peers) raft.join(peer, (packet, written) => send(packet, endpoint(peer), error => written(error)))

socket.on('message', (bytes, { address, port }) => {
  let packet
  try {
    packet = JSON.parse(bytes)
  } catch {
    return // whoever sends that is no peer
  }
  raft.emit('data', packet, async answer => {
    const reply = await answer
    if (reply) send(reply, { host: address, port })
  })
})

const { host, port } = endpoint(name)
socket.bind(port, host, logState)
