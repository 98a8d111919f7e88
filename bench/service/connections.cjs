// Answers each message. With a peer: says something to it every second, over one of sixteen connections after another.
const { connect, createServer } = require('node:net')

createServer(socket => socket.on('data', () => socket.write('ok'))).listen(7000)
if (process.env.PEER) {
  const connections = Array.from({ length: 16 }, () => connect(7000, process.env.PEER))
  for (const each of connections) each.on('data', () => undefined).write('hello')
  let turn = 0
  setInterval(() => connections[turn++ % connections.length].write('hello'), 1000)
}
