import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { announce, report, reports, sweep, withdraw } from '../../campaign/queue/campaigns.ts'
import { printed } from '../../cli/printed/printed.ts'
import { copyOfFixtures, lastnail, start } from '../cli/lastnail.ts'
import { RealRedis } from './redis.ts'

let redis: RealRedis
let directory: string
let remove: () => void
beforeAll(async () => {
  const copy = copyOfFixtures()
  directory = copy.directory
  remove = copy.remove
  redis = await RealRedis.start()
})
afterAll(async () => {
  await redis?.stop()
  remove()
})

const outcomeIn = (stdout: unknown) => {
  const text = String(stdout)
  return printed.campaign.parse(JSON.parse(text.slice(text.lastIndexOf('\n') + 1)))
}

const searched = ['campaign', 'adders.config.ts', '--property', 'atMostTwo', '--executions', '192', '--json']
/** What must be the same wherever it is done. */
const counts = ({ verdict, property, executions, steps, states, rounds }: ReturnType<typeof outcomeIn>) => ({
  ...{ verdict, property, executions, steps, states, rounds },
})

const startWorker = (place = directory) => {
  const worker = start(place, ['worker', '--queue', redis.url, '--workers', '1'])
  let said = ''
  worker.stderr!.on('data', chunk => (said += chunk))
  return {
    kill: async (signal: NodeJS.Signals) => {
      worker.kill(signal)
      return worker
    },
    says: async (what: RegExp) => {
      while (!what.test(said)) await sleep(50)
    },
  }
}

test('a campaign on a queue whose workers and Redis are killed gives the same result as in one process', {
  timeout: 300_000,
}, async () => {
  const alone = outcomeIn((await lastnail(directory, ...searched, '--workers', '1')).stdout)
  expect(alone).toMatchObject({ verdict: 'held', executions: 192, rounds: 2 })
  const workers = [startWorker(), startWorker()]
  const campaign = start(directory, [...searched, '--queue', redis.url, '--lock', '2s'])
  await workers[0]!.says(/takes jobs of campaign/)
  await workers[0]!.kill('SIGKILL')
  await redis.kill()
  await sleep(500)
  await redis.start()
  workers.push(startWorker())
  const { stdout, stderr, exitCode } = await campaign
  expect(exitCode, String(stderr)).toBe(0)
  expect(counts(outcomeIn(stdout))).toEqual(counts(alone))
  expect(String(stderr)).toMatch(/Redis is lost/)
  const [, second, third] = workers
  for (const worker of [second!, third!]) expect((await worker.kill('SIGTERM')).exitCode).toBe(0)
  expect(await redis.keys()).toEqual([])
})

test('a worker that has other programs takes nothing, and says which differs', { timeout: 300_000 }, async () => {
  const other = copyOfFixtures({ 'store.js': '// Another store.\n' })
  try {
    const worker = startWorker(other.directory)
    const campaign = start(directory, [...searched, '--queue', redis.url])
    await worker.says(/takes nothing of campaign .*: adders.config.ts: store.js differs from where/)
    expect((await worker.kill('SIGTERM')).exitCode).toBe(0)
    campaign.kill('SIGINT')
    const { exitCode, stdout } = await campaign
    expect(exitCode).toBe(2)
    expect(outcomeIn(stdout)).toMatchObject({
      verdict: 'undetermined',
      notes: [expect.stringMatching(/^nothing was executed: .*: adders.config.ts: store.js differs from where/)],
    })
  } finally {
    other.remove()
  }
})

test('a worker executes what the programs are in each campaign, also after it has worked for one before', {
  timeout: 300_000,
}, async () => {
  const other = copyOfFixtures()
  const worker = startWorker(other.directory)
  try {
    const campaign = async () => {
      const args = ['campaign', 'adders.config.ts', '--property', 'atMostTwo', '--executions', '16', '--json']
      return outcomeIn((await start(other.directory, [...args, '--queue', redis.url])).stdout)
    }
    expect(await campaign()).toMatchObject({ verdict: 'held', executions: 16 })
    const adder = join(other.directory, 'adder.js')
    writeFileSync(adder, readFileSync(adder, 'utf8').replace(/`write .*`/, "'write 3'"))
    expect(await campaign()).toMatchObject({ verdict: 'violated', property: 'atMostTwo' })
  } finally {
    await worker.kill('SIGTERM')
    other.remove()
  }
})

test('what a worker reports just after a campaign has ended is removed when the worker leaves it', async () => {
  const own = await RealRedis.start()
  const client = new Redis(own.url)
  try {
    await announce(client, { id: 'c', systems: [], lockMs: 1000 })
    await report(client, 'c', '1 jobs done')
    await sweep(client, 'c')
    expect(await reports(client, 'c')).toEqual([expect.stringMatching(/: 1 jobs done$/)])
    await withdraw(client, 'c')
    await report(client, 'c', '2 jobs done')
    await sweep(client, 'c')
    expect(await own.keys()).toEqual([])
  } finally {
    client.disconnect()
    await own.stop()
  }
})

test('a campaign whose workers never come ends when its time is over, and says so', { timeout: 120_000 }, async () => {
  const { stdout, exitCode } = await start(directory, [...searched, '--queue', redis.url, '--for', '2s'])
  expect(exitCode).toBe(2)
  expect(outcomeIn(stdout)).toMatchObject({ executions: 0, notes: ['nothing was executed: no worker came'] })
})

test('Redis that is missing, needs a password, is full, may evict, or is another server is reported in one line', {
  timeout: 300_000,
}, async () => {
  const refusal = async (url: string, ...command: readonly string[]) => {
    const { code, stdout, stderr } = await lastnail(
      directory,
      ...(command.length > 0 ? command : ['worker']),
      '--queue',
      url,
    )
    expect(stdout).toBe('')
    expect(stderr.split('\n'), stderr).toHaveLength(1)
    return `${code} ${stderr}`
  }
  expect(await refusal('redis://127.0.0.1:1')).toMatch(
    /^69 lastnail: cannot use Redis at redis:\/\/127.0.0.1:1: .*ECONNREFUSED/,
  )
  expect(await refusal('http://127.0.0.1')).toMatch(/^64 lastnail: expected an address such as redis:/)
  expect(await refusal('redis://127.0.0.1:1', 'campaign', 'adders.config.ts')).toMatch(/^69 /)
  const secret = await RealRedis.start('--requirepass', 'secret')
  const full = await RealRedis.start('--maxmemory', '100kb', '--maxmemory-policy', 'noeviction')
  const forgetful = await RealRedis.start('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru')
  try {
    expect(await refusal(secret.url)).toMatch(/^64 lastnail: .* asks for a password/)
    expect(await refusal(secret.url.replace('//', '//:wrong@'))).toMatch(
      /^64 lastnail: .* refuses this user or password\n?$/,
    )
    expect(await refusal(full.url)).toMatch(/^69 lastnail: .* is full: /)
    expect(await refusal(forgetful.url)).toMatch(
      /^69 lastnail: .* may forget jobs: its maxmemory-policy is allkeys-lru/,
    )
  } finally {
    await Promise.all([secret, full, forgetful].map(each => each.stop()))
  }
})
