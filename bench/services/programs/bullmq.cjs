// Adds jobs, or works on them.
const { Queue, Worker } = require('./cache/node_modules/bullmq')

const [, , what, host] = process.argv
const connection = { host, port: 6379 }
if (what === 'worker') {
  const worker = new Worker('jobs', async ({ data }) => data.number * 2, { connection })
  worker.on('completed', ({ id, returnvalue }) => console.log(JSON.stringify({ id, returnvalue })))
} else {
  const queue = new Queue('jobs', { connection })
  let number = 0
  require('node:http')
    .createServer(async (_, response) => {
      const job = await queue.add('double', { number: number++ }, { attempts: 3 })
      response.end(job.id)
    })
    .listen(8080)
}
