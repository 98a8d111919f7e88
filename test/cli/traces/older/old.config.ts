import { always, defineSystem, jsonLines } from 'lastnail'

const receiver = `
  require('node:dgram').createSocket('udp4').once('message', bytes => console.log(JSON.stringify({ first: Number(bytes) })))
    .bind(7000, '0.0.0.0')`
const sender = `
  const socket = require('node:dgram').createSocket('udp4')
  let sent = 0
  setInterval(() => socket.send(String(++sent), 7000, process.argv[1]), 100)`

/** A receiver that starts again misses what came before. The three traces beside it were recorded by commit 27c8b8b. */
export default defineSystem({
  name: 'old',
  nodes: {
    receiver: { command: ['node', '-e', receiver] },
    sender: { command: ['node', '-e', sender, '{{receiver.address}}'] },
  },
  state: jsonLines('stdout'),
  properties: { firstIsFirst: always(state => (state.node('receiver').state?.first ?? 1) === 1) },
  faults: { crash: 1 },
})
