// Three of these exchange messages for ever: each passes on what it gets to the next, so that three are always on their
// way. They connect after a second, and begin after another. Usage: ring.cjs udp|tcp NEXT-ADDRESS
const [, , transport, next] = process.argv
const port = 4000
let heard = 0
const hear = () => console.log(JSON.stringify({ heard: ++heard }))

const overUdp = () => {
  const socket = require('node:dgram').createSocket('udp4')
  const pass = bytes => socket.send(bytes, port, next)
  socket.on('message', bytes => {
    hear()
    pass(bytes)
  })
  socket.bind(port)
  return { connect() {}, pass }
}

const overTcp = () => {
  const net = require('node:net')
  const onward = new net.Socket()
  const pass = bytes => onward.write(bytes)
  const take = bytes => {
    hear()
    pass(bytes)
  }
  net.createServer(socket => socket.on('data', take)).listen(port)
  return { connect: () => onward.connect(port, next), pass }
}

const { connect, pass } = transport === 'udp' ? overUdp() : overTcp()
setTimeout(connect, 1000)
setTimeout(pass, 2000, 'token')
