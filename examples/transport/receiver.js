/**
 * Receives the messages of a sender and logs them.
 *
 *     node receiver.js 127.0.0.2:7000
 */
import { Receiver } from './protocol.js'
import { endpoint, listen, log } from './service.js'

const [own] = process.argv.slice(2)

const receiver = new Receiver({ acceptStaleSyn: process.env.BUG === 'transport-stale-syn' })

const logState = () => log({ delivered: receiver.delivered, connection: receiver.connection ?? null })

const send = listen(
  endpoint(own),
  (packet, sender) => {
    for (const answer of receiver.onPacket(packet)) send(answer, sender)
    logState()
  },
  logState,
)
