// node:http with a time-out of three seconds, then 504.
const { createServer, request } = require('node:http')

createServer((_, response) => {
  const asked = request({ host: process.env.BACK, port: 8080, timeout: 3000 }, answer => answer.pipe(response))
  asked.on('timeout', () => asked.destroy(new Error('time-out')))
  asked.on('error', () => response.writeHead(504).end())
  asked.end()
}).listen(8080)
