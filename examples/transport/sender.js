/**
 * Sends messages to a receiver, reliably, and logs what is not acknowledged.
 *
 *     node sender.js 127.0.0.1:7000 127.0.0.2:7000 m1 m2
 */
import { randomInt } from 'node:crypto'
import { Sender } from './protocol.js'
import { endpoint, listen, log } from './service.js'

const retransmitAfterMs = 100

const [own, peer, ...messages] = process.argv.slice(2)
const receiver = endpoint(peer)

let opened = 0
const sender = new Sender(() => {
  opened = Math.max(Date.now(), opened + 1)
  return { opened, seq: randomInt(2 ** 31) }
})

let timer
/** Sends packets, and lets the retransmission timer run from the last one that is in flight. */
const transmit = packets => {
  for (const packet of packets) send(packet, receiver)
  if (packets.length > 0 || !sender.inFlight) clearTimeout(timer)
  if (packets.length > 0) timer = setTimeout(() => transmit(sender.onTimer()), retransmitAfterMs)
  log({ unacknowledged: sender.unacknowledged, connection: sender.connection })
}

const send = listen(
  endpoint(own),
  packet => transmit(sender.onPacket(packet)),
  () => {
    for (const message of messages) transmit(sender.give(message))
  },
)
