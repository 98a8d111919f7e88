// Websockets: a server of a few lines, and the client of undici.
const { createHash } = require('node:crypto')
const { createServer } = require('node:http')
const { serve } = require('./serve.cjs')

const accepted = key => createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

// A server gives up a request that takes a minute: not this one, for a network may be slow.
const patient = { headersTimeout: 0, requestTimeout: 0 }

const back = () => {
  const server = createServer(patient)
  server.on('upgrade', (request, socket) => {
    const accept = accepted(request.headers['sec-websocket-key'])
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    socket.on('error', () => {})
    socket.on('data', frame => {
      if ((frame[0] & 15) !== 1) return socket.end(Buffer.from([0x88, 0]))
      const [mask, data] = [frame.subarray(2, 6), frame.subarray(6)]
      const text = Buffer.from(data.map((byte, index) => byte ^ mask[index % 4]))
      socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]))
    })
  })
  server.listen(8080)
}

const work = () =>
  new Promise((resolve, reject) => {
    const { WebSocket } = require(process.env.UNDICI)
    const socket = new WebSocket(`ws://${process.env.BACK}:8080`)
    socket.onerror = event => reject(event.error ?? new Error('websocket'))
    socket.onopen = () => socket.send('hello')
    socket.onmessage = ({ data }) => {
      socket.close()
      resolve(data === 'hello' ? undefined : data)
    }
  })

if (process.argv[2] === 'back') back()
else serve(work)
