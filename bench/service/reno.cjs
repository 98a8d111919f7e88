/** Sends as fast as TCP (Reno) can, or tells each second how many bytes have come. */
const { writeFileSync } = require('node:fs')
const { connect, createServer } = require('node:net')

const [role, address] = process.argv.slice(2)

if (role === 'receive') {
  let bytes = 0
  createServer(socket => socket.on('data', data => (bytes += data.length))).listen(4000)
  setInterval(() => console.log(JSON.stringify({ bytes, at: performance.now() })), 1000)
} else {
  writeFileSync('/proc/sys/net/ipv4/tcp_congestion_control', 'reno')
  const socket = connect(4000, address)
  const chunk = Buffer.alloc(1 << 16)
  const send = () => {
    while (socket.write(chunk));
  }
  socket.on('drain', send).on('connect', send)
}
