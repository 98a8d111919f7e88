// Two workers log what they add between reading a shared variable and writing it: one update is lost.
const { createSocket } = require('node:dgram')
const { openSync, writeSync } = require('node:fs')
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads')

if (isMainThread) {
  const shared = new Int32Array(new SharedArrayBuffer(4))
  const mended = process.argv[2] === 'mended'
  const workers = [1, 2].map(() => new Worker(__filename, { workerData: { shared, mended } }))
  const udp = createSocket('udp4')
  udp.on('message', async (_, { port, address }) => {
    shared[0] = 0
    await Promise.all(
      workers.map((worker, index) => {
        const answered = new Promise(resolve => worker.once('message', resolve))
        worker.postMessage(index + 1)
        return answered
      }),
    )
    console.log(JSON.stringify({ right: shared[0] === 3 }))
    udp.send('done', port, address)
  })
  udp.bind(7000)
} else {
  const { shared, mended } = workerData
  const log = openSync('log', 'a')
  parentPort.on('message', count => {
    const before = shared[0]
    writeSync(log, `adding ${count}\n`)
    if (mended) Atomics.add(shared, 0, count)
    else shared[0] = before + count
    parentPort.postMessage('done')
  })
}
