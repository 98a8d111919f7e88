// HTTP/2: three requests at once over one connection.
const { connect, createServer } = require('node:http2')
const { serve } = require('./serve.cjs')

const back = () => {
  const server = createServer()
  server.on('stream', (stream, headers) => {
    stream.respond({ ':status': 200 })
    stream.end(`path ${headers[':path']}`)
  })
  server.listen(8080)
}

const work = async () => {
  const session = connect(`http://${process.env.BACK}:8080`)
  const ask = path =>
    new Promise((resolve, reject) => {
      let text = ''
      const request = session.request({ ':path': path })
      request.on('data', data => (text += data)).on('end', () => resolve(text))
      request.on('error', reject)
      session.on('error', reject)
    })
  const answers = await Promise.all(['/a', '/b', '/c'].map(ask))
  session.close()
  if (answers.join() !== 'path /a,path /b,path /c') return answers.join()
}

if (process.argv[2] === 'back') back()
else serve(work)
