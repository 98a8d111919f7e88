// load.cjs serve | load.cjs ask KIND HOST PORT CONNECTIONS REQUESTS
// Serves HTTP, or sends requests of KIND (redis or http) over some connections, each the next one after an answer, and
// says how many it did in a second.
const http = require('node:http')
const net = require('node:net')

const [, , what, kind, host, port, connections, requests] = process.argv

const serve = () => http.createServer((_, response) => response.end('said')).listen(8080)

/** Each calls `next` when it has its answer. */
const redis = next => {
  const socket = net.connect({ host, port: Number(port), noDelay: true }, next)
  socket.on('data', next)
  return () => socket.write('*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n')
}

const agent = new http.Agent({ keepAlive: true })
const overHttp = next => {
  setImmediate(next)
  return () =>
    http.get({ host, port, agent }, response => {
      response.resume()
      response.on('end', next)
    })
}

const ask = () => {
  const begun = performance.now()
  let [asked, answered] = [0, -connections]
  for (let count = 0; count < Number(connections); count++) {
    const send = (kind === 'redis' ? redis : overHttp)(() => {
      answered += 1
      if (answered === Number(requests)) {
        console.log(JSON.stringify({ rate: (1000 * Number(requests)) / (performance.now() - begun) }))
        process.exit(0)
      }
      if (asked++ < Number(requests)) send()
    })
  }
}

if (what === 'serve') serve()
else ask()
