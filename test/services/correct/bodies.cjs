// A body of 5 MB, there and back.
const { createHash } = require('node:crypto')
const { createServer, request } = require('node:http')
const { serve } = require('./serve.cjs')

const hashOf = bytes => createHash('sha1').update(bytes).digest('hex')

// A server gives up a request that takes a minute: not this one, for a network may be slow.
const patient = { headersTimeout: 0, requestTimeout: 0 }

const back = () =>
  createServer(patient, (asked, response) => {
    const parts = []
    asked.on('data', part => parts.push(part)).on('end', () => response.end(Buffer.concat(parts)))
  }).listen(8080)

const work = async () => {
  const body = Buffer.alloc(5 << 20, 'five megabytes ')
  const answer = await new Promise((resolve, reject) => {
    const asking = request({ host: process.env.BACK, port: 8080, method: 'POST', agent: false }, response => {
      const parts = []
      response.on('data', part => parts.push(part)).on('end', () => resolve(Buffer.concat(parts)))
    })
    asking.on('error', reject).end(body)
  })
  if (hashOf(answer) !== hashOf(body)) return `${answer.length} other bytes`
}

if (process.argv[2] === 'back') back()
else serve(work)
