// What all of them ask: it answers at once.
require('node:http')
  .createServer((_, response) => response.end('{"left":1}'))
  .listen(8080)
