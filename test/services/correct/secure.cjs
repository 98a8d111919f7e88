// TLS in Node.js.
const { connect, createServer } = require('node:tls')
const { readFileSync } = require('node:fs')
const { serve } = require('./serve.cjs')

const cert = readFileSync(process.env.CERT)

const back = () =>
  createServer({ cert, key: readFileSync(process.env.KEY) }, socket => {
    socket.on('error', () => {})
    socket.on('data', data => socket.end(`secret ${data}`))
  }).listen(8080)

const work = () =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ host: process.env.BACK, port: 8080, ca: cert, servername: 'back' }, () =>
      socket.write('word'),
    )
    socket.on('error', reject)
    socket.on('data', data => (text += data)).on('end', () => resolve(text === 'secret word' ? undefined : text))
  })

if (process.argv[2] === 'back') back()
else serve(work)
