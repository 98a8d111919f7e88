// A worker of a queue whose jobs say by their seeds what they do to it: 666 ends it, 777 stops it the first time, 888 fails
// the first time, 1 is done.
import { existsSync, writeFileSync } from 'node:fs'
import { Performers } from '../../dist/campaign/queue/engine.js'
import { workFor } from '../../dist/campaign/queue/redis-worker.js'

const [, , url, stopped] = process.argv

let failed = false
const perform = async ({ seed }) => {
  if (seed === 666) process.kill(process.pid, 'SIGKILL')
  if (seed === 777 && !existsSync(stopped)) {
    writeFileSync(stopped, String(process.pid))
    process.kill(process.pid, 'SIGSTOP')
  }
  if (seed === 888 && !failed) {
    failed = true
    throw new Error('no process can be started just now')
  }
  return []
}

const abort = new AbortController()
process.once('SIGTERM', () => abort.abort())
await workFor({
  ...{ url, signal: abort.signal, onLine: () => undefined },
  performers: new Performers([{ perform, end: async () => undefined }]),
  programsOf: async () => ({}),
})
process.exit()
