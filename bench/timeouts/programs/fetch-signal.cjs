// fetch for a second at the most, then 504.
const { createServer } = require('node:http')

createServer(async (_, response) => {
  try {
    const answer = await fetch(`http://${process.env.BACK}:8080/`, { signal: AbortSignal.timeout(1000) })
    response.end(await answer.text())
  } catch {
    response.writeHead(504).end()
  }
}).listen(8080)
