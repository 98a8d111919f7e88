/** Sends so many datagrams of a size to a host, so many a second; or counts those that come. */
const { createSocket } = require('node:dgram')

const [role, address, count, size, perSecond] = process.argv.slice(2)
const socket = createSocket({ type: 'udp4', recvBufferSize: 8 << 20 })

if (role === 'receive') {
  let received = 0
  let bytes = 0
  let first
  let last
  socket.on('message', message => {
    received += 1
    bytes += message.length + 28
    last = performance.now()
    first ??= last
  })
  socket.bind(4000)
  setInterval(() => console.log(JSON.stringify({ received, bytes, milliseconds: last - first })), 500)
} else {
  const packet = Buffer.alloc(Number(size))
  const begun = performance.now()
  let sent = 0
  const send = () => {
    const due = Math.min(Number(count), ((performance.now() - begun) * Number(perSecond)) / 1000)
    for (; sent < due; sent++) socket.send(packet, 4000, address)
    if (sent < Number(count)) setTimeout(send, 1)
    else setTimeout(() => console.log('sent'), 1000)
  }
  send()
  setInterval(() => undefined, 1000)
}
