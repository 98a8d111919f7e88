// Long polls: a request is answered once another one has come.
const { createServer, get } = require('node:http')
const { serve } = require('./serve.cjs')

// A server gives up a request that takes a minute: not this one, for a network may be slow.
const patient = { headersTimeout: 0, requestTimeout: 0 }

const back = () => {
  const waiting = new Map()
  createServer(patient, (asked, response) => {
    const [, , name] = asked.url.split('/')
    const other = waiting.get(name)
    waiting.delete(name)
    if (other) {
      other.end('met')
      response.end('met')
    } else waiting.set(name, response)
  }).listen(8080)
}

const ask = path =>
  new Promise((resolve, reject) => {
    get({ host: process.env.BACK, port: 8080, path, agent: false }, response => {
      let text = ''
      response.on('data', data => (text += data)).on('end', () => resolve(text))
    }).on('error', reject)
  })

let rounds = 0
const work = async () => {
  const name = `${process.env.FRONT}${++rounds}`
  const answers = await Promise.all([ask(`/wait/${name}`), ask(`/tell/${name}`)])
  if (answers.join() !== 'met,met') return answers.join()
}

if (process.argv[2] === 'back') back()
else serve(work)
