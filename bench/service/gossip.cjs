// Three of these tell each other rumours, at random times and to random peers: over a TCP connection for each, or in a
// datagram. What is heard goes through the thread pool (a digest, a file) before it is logged and answered.
// Usage: gossip.cjs NAME PEER PEER
const { createSocket } = require('node:dgram')
const { appendFile, readFile } = require('node:fs/promises')
const { connect, createServer } = require('node:net')
const { randomBytes, scrypt } = require('node:crypto')
const { promisify } = require('node:util')

const [, , name, ...peers] = process.argv
const port = 4000
const digest = promisify(scrypt)
let heard = 0
let answered = 0
let last = ''

const log = () => console.log(JSON.stringify({ heard, answered, last, at: Date.now() }))

const hear = async (rumour, answer) => {
  const key = await digest(rumour, name, 16, { N: 256 })
  await appendFile('rumours', `${key.toString('hex')}\n`)
  heard += 1
  last = (await readFile('rumours', 'utf8')).trimEnd().split('\n').at(-1)
  log()
  answer(`${last}\n`)
}

createServer(socket => {
  socket.on('error', () => {})
  socket.once('data', bytes => hear(bytes, line => socket.end(line)))
}).listen(port)

const datagrams = createSocket('udp4')
datagrams.on('message', bytes => hear(bytes, () => {}))
datagrams.bind(port)

const tell = peer => {
  const rumour = `${name} ${randomBytes(8).toString('hex')}\n`
  if (Math.random() < 0.5) return datagrams.send(rumour, port, peer)
  const socket = connect(port, peer, () => socket.write(rumour))
  socket.on('error', () => {})
  socket.on('data', () => {
    answered += 1
    log()
  })
}

const later = () => {
  const delay = 20 + Math.random() * 200
  setTimeout(() => {
    tell(peers[Math.floor(Math.random() * peers.length)])
    later()
  }, delay)
}
later()
