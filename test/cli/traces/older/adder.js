// Adds one to the number of a store, once: reads it, and writes what comes after it.
import { createSocket } from 'node:dgram'

const [, , store] = process.argv
const log = done => console.log(JSON.stringify({ done }))
const socket = createSocket('udp4')
const ask = text => socket.send(text, 7000, store)
socket.on('message', bytes => {
  const [what, number] = bytes.toString().split(' ')
  if (what === 'written') log(true)
  else ask(`write ${Number(number) + 1}`)
})
log(false)
ask('read')
