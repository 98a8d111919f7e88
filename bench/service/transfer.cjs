/**
 * `serve`: a connection asks for so many bytes, and gets them. `fetch ADDRESS`: how long transfers take, a line of JSON each,
 * from the asking for a connection to the last byte; ten at once until the last is over; and a question on an open connection.
 */
const { connect, createServer } = require('node:net')

const [role, address] = process.argv.slice(2)
const port = 4000

const fetchOver = (socket, bytes) =>
  new Promise((resolve, reject) => {
    let left = bytes
    socket.on('error', reject)
    socket.on('data', data => {
      left -= data.length
      if (left === 0) {
        socket.removeAllListeners()
        resolve(socket)
      }
    })
    socket.write(`${bytes}\n`)
  })

const transfer = async bytes => {
  const socket = await fetchOver(connect(port, address), bytes)
  socket.on('error', () => undefined).destroy()
}

const timed = async (what, work) => {
  const begun = performance.now()
  await work()
  console.log(JSON.stringify({ what, ms: performance.now() - begun }))
}

const measure = async () => {
  const times = async (count, what, work) => {
    for (let round = 0; round < count; round++) await timed(what, work)
  }
  const open = connect(port, address)
  await fetchOver(open, 1)
  await times(20, 'request', () => fetchOver(open, 100))
  open.destroy()
  await times(9, '10 kB', () => transfer(10e3))
  await times(7, '1 MB', () => transfer(1e6))
  await times(3, 'ten of 1 MB', () => Promise.all(Array.from({ length: 10 }, () => transfer(1e6))))
  await times(1, '20 MB', () => transfer(20e6))
  console.log(JSON.stringify({ what: 'done', ms: 0 }))
}

if (role === 'serve') {
  createServer(socket => {
    socket.on('error', () => undefined)
    socket.on('data', asked => socket.write(Buffer.alloc(Number(String(asked)))))
  }).listen(port)
} else setTimeout(measure, 1000)
