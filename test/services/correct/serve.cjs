// Answers each connection with what `work` resolves to: nothing means ok.
const { createServer } = require('node:net')

exports.serve = work => {
  let count = 0
  createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', async () => {
      const said = await Promise.resolve()
        .then(work)
        .catch(error => String(error))
      socket.end(said ?? 'ok')
      console.log(JSON.stringify({ count: ++count }))
    })
  }).listen(8080)
}
