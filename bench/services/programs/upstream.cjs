// Says how often it was asked.
let count = 0
require('node:http')
  .createServer((request, response) => {
    count += 1
    console.log(JSON.stringify({ count, url: request.url }))
    response.end(JSON.stringify({ count }))
  })
  .listen(8080)
