// Shows that a campaign comes to the same whatever happens to its workers and its Redis:
//
//     npm run campaign:killed -- [--executions 2000] [--workers 1,2,4] [--every 10s]
//
// As root, with redis-server. One undisturbed process does it first; then 1, 2 and 4 workers by a queue, of which one is killed
// (SIGKILL) and replaced every ten seconds, and Redis twice. The verdict and the counts of each are printed. The exit
// code is 1 if they differ, or if a campaign was over before it was disturbed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    executions: { type: 'string', default: '2000' },
    workers: { type: 'string', default: '1,2,4' },
    every: { type: 'string', default: '10' },
  },
})
const everyMs = 1000 * Number.parseFloat(values.every)
const root = join(import.meta.dirname, '..')
const place = mkdtempSync(join(tmpdir(), 'lastnail-campaign-killed-'))
cpSync(join(root, 'test/cli/fixtures'), place, { recursive: true })

/** What was begun here, and ends with it. */
const begun = new Set()
const begin = (program, args, stdio) => {
  const child = spawn(program, args, { cwd: place, stdio })
  begun.add(child)
  child.once('exit', () => begun.delete(child))
  return child
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => {
    for (const child of begun) child.kill('SIGKILL')
    rmSync(place, { recursive: true, force: true })
    process.exit(2)
  })

const tool = (...args) => begin(process.execPath, [join(root, 'bin/lastnail.js'), ...args], ['ignore', 'pipe', 'pipe'])
const campaignArgs = ['adders.config.ts', '--property', 'atMostTwo', '--executions', values.executions, '--json']

/** What it came to, in the counts that must not differ. */
const outcomeOf = async campaign => {
  let [out, err] = ['', '']
  campaign.stdout.on('data', chunk => {
    out += chunk
  })
  campaign.stderr.on('data', chunk => {
    err += chunk
  })
  const [code] = await once(campaign, 'close')
  const line = out.trimEnd().split('\n').at(-1)
  if (!line?.startsWith('{')) throw new Error(`the campaign ended with ${code}: ${err.trimEnd()}`)
  const { verdict, property, executions, steps, states, rounds, seconds, notes } = JSON.parse(line)
  return { counts: { verdict, property, executions, steps, states, rounds }, seconds, notes }
}

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

const disturbed = async count => {
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const startRedis = () =>
    begin(
      'redis-server',
      [
        ...['--port', `${port}`, '--bind', '127.0.0.1', '--dir', place, '--appenddirname', `aof-${count}`],
        ...['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''],
      ],
      'ignore',
    )
  let redis = startRedis()
  await sleep(1000)
  const startWorker = () => {
    const worker = tool('worker', '--queue', url, '--workers', '1')
    worker.stdout.resume()
    worker.stderr.resume()
    return worker
  }
  const workers = Array.from({ length: count }, startWorker)
  const killed = { workers: 0, redis: 0 }
  const campaign = tool('campaign', ...campaignArgs, '--queue', url, '--lock', '3s')
  let isOver = false
  const outcome = outcomeOf(campaign).finally(() => {
    isOver = true
  })
  outcome.catch(() => undefined)
  const disturb = async () => {
    for (let ordinal = 0; !isOver; ordinal++) {
      await Promise.race([sleep(everyMs), outcome.catch(() => undefined)])
      if (isOver) return
      workers[ordinal % count].kill('SIGKILL')
      workers[ordinal % count] = startWorker()
      killed.workers += 1
      if (killed.redis === 2) continue
      redis.kill('SIGKILL')
      await once(redis, 'exit')
      await sleep(500)
      redis = startRedis()
      killed.redis += 1
    }
  }
  try {
    await disturb()
    return { ...(await outcome), killed }
  } finally {
    for (const worker of workers) worker.kill('SIGTERM')
    await Promise.all(workers.map(worker => worker.exitCode ?? worker.signalCode ?? once(worker, 'exit')))
    redis.kill('SIGKILL')
  }
}

try {
  const alone = await outcomeOf(tool('campaign', ...campaignArgs, '--workers', '1'))
  console.log(`one process: ${JSON.stringify(alone.counts)}, ${alone.seconds} s`)
  for (const count of values.workers.split(',').map(Number)) {
    const { counts, seconds, notes, killed } = await disturbed(count)
    const isSame = JSON.stringify(counts) === JSON.stringify(alone.counts)
    console.log(
      `${count} workers, of which ${killed.workers} were killed, and Redis ${killed.redis} times: ` +
        `${isSame ? 'the same' : JSON.stringify(counts)}, ${seconds} s`,
    )
    if (!isSame) for (const note of notes) console.log(`    ${note}`)
    const isDisturbed = killed.workers >= 2 && killed.redis === 2
    if (!isDisturbed) console.log('it was over too soon to be disturbed: give it more --executions')
    if (!isSame || !isDisturbed) process.exitCode = 1
  }
} finally {
  rmSync(place, { recursive: true, force: true })
}
