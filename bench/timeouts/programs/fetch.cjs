// fetch as its documentation shows it: nothing catches what it throws.
const { createServer } = require('node:http')

createServer(async (_, response) => {
  const answer = await fetch(`http://${process.env.BACK}:8080/`)
  response.end(await answer.text())
}).listen(8080)
