// Keeps a number: `read` is answered with it, `write N` replaces it.
import { createSocket } from 'node:dgram'

let value = 0
const log = () => console.log(JSON.stringify({ value }))
const socket = createSocket('udp4')
socket.on('message', (bytes, from) => {
  const [what, number] = bytes.toString().split(' ')
  if (what === 'read') return socket.send(`value ${value}`, from.port, from.address)
  value = Number(number)
  socket.send('written', from.port, from.address)
  log()
})
socket.bind(7000, log)
