// One sends, the other receives and prints how many megabytes a second came. Usage: stream.cjs send|receive ADDRESS
const net = require('node:net')
const [, , role, address] = process.argv
const port = 4000
const chunk = Buffer.alloc(1 << 20, 'lastnail')
const chunks = 300

const receive = () => {
  let bytes = 0
  let begun
  const server = net.createServer(socket => {
    server.close()
    socket.on('data', data => {
      begun ??= performance.now()
      bytes += data.length
    })
    socket.on('end', () => console.log(bytes / 1e3 / (performance.now() - begun)))
  })
  server.listen(port, () => console.log('ready'))
}

const send = () => {
  const socket = net.connect(port, address)
  let left = chunks
  const write = () => {
    if (left-- === 0) socket.end()
    else socket.write(chunk, write)
  }
  write()
}

if (role === 'send') send()
else receive()
