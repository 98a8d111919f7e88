// Answers by HTTP, and asks its peer every second over connections that are kept alive.
const { Agent, createServer, get } = require('node:http')

const agent = new Agent({ keepAlive: true })
let count = 0
createServer((_request, response) => {
  count += 1
  console.log(JSON.stringify({ count }))
  response.end(JSON.stringify({ count }))
}).listen(8080)
setInterval(() => {
  get({ host: process.argv[2], port: 8080, agent, timeout: 3000 }, response => response.resume()).on('error', () => {})
}, 1000)
