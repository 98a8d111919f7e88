import { createSocket } from 'node:dgram'
import { endpoint } from './address.js'
import { parse } from './json.js'

/**
 * Binds to the address `own` and calls `onMessage(message, peer)` for each datagram of JSON that arrives, with the address
 * of its sender; `onOpen()` when it is bound. Returns `{ send(peer, message) }`. Datagrams may get lost, change places and
 * arrive twice.
 */
export const openDatagrams = (own, { onMessage, onOpen = () => {} }) => {
  const socket = createSocket('udp4')
  socket.on('message', (bytes, { address, port }) => {
    const message = parse(bytes)
    if (message !== undefined) onMessage(message, `${address}:${port}`)
  })
  const { host, port } = endpoint(own)
  socket.bind(port, host, onOpen)
  return {
    send: (peer, message) => {
      const { host, port } = endpoint(peer)
      socket.send(JSON.stringify(message), port, host)
    },
  }
}
