// fetch for half a second, three times, then 503.
const { createServer } = require('node:http')

const ask = () =>
  fetch(`http://${process.env.BACK}:8080/`, { signal: AbortSignal.timeout(500) }).then(each => each.text())

createServer((_, response) => {
  ask()
    .catch(ask)
    .catch(ask)
    .then(
      text => response.end(text),
      () => response.writeHead(503).end(),
    )
}).listen(8080)
