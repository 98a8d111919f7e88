import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GivenUp } from '../../campaign/queue/engine.ts'
import type { Job } from '../../campaign/queue/job.ts'
import { requireRedis } from '../../campaign/queue/redis.ts'
import { type RedisCondition, RedisEngine } from '../../campaign/queue/redis-engine.ts'
import { RealRedis } from './redis.ts'

let redis: RealRedis
const directory = mkdtempSync(join(tmpdir(), 'lastnail-odd-'))
const workers = new Set<ChildProcess>()
beforeAll(async () => {
  redis = await RealRedis.start()
})
afterAll(async () => {
  for (const worker of workers) worker.kill('SIGKILL')
  await redis?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const stopped = join(directory, 'stopped')
const startWorker = ({ url } = redis) => {
  const worker = spawn(process.execPath, [join(import.meta.dirname, 'odd-worker.mjs'), url, stopped])
  workers.add(worker)
  worker.once('exit', () => workers.delete(worker))
  return worker
}

const openEngine = (onRedis: (is: RedisCondition) => void = () => undefined, { url } = redis) =>
  new RedisEngine({ url, systems: [], width: 4, lockMs: 500, onRedis })

const job = (seed: number): Job => ({
  config: 'a.config.ts',
  seed,
  clocksStart: '2026-01-01T00:00:00Z',
  tasks: [],
})

test('a job that ends three workers is given up and reported, and others are done', { timeout: 120_000 }, async () => {
  const engine = openEngine()
  let isOver = false
  let deaths = 0
  try {
    const poisonous = engine.perform(job(666)).finally(() => {
      isOver = true
    })
    const given = expect(poisonous).rejects.toThrow(GivenUp)
    while (!isOver) {
      const [, signal] = await Promise.race([once(startWorker(), 'exit'), given.then(() => [0, 'over'])])
      if (signal === 'SIGKILL') deaths += 1
    }
    await expect(poisonous).rejects.toThrow(/^a job was given up after it was begun three times: /)
    expect(deaths).toBe(3)
    if (workers.size === 0) startWorker()
    expect(await engine.perform(job(1))).toEqual([])
  } finally {
    await engine.close()
    for (const worker of workers) worker.kill('SIGKILL')
  }
})

test('a job that fails once and is done when it is begun again has its answers', { timeout: 60_000 }, async () => {
  const engine = openEngine()
  try {
    startWorker()
    expect(await engine.perform(job(888))).toEqual([])
  } finally {
    await engine.close()
    for (const worker of workers) worker.kill('SIGKILL')
  }
})

test('a worker that hangs loses its job to another', { timeout: 120_000 }, async () => {
  const engine = openEngine()
  try {
    const hung = startWorker()
    const done = engine.perform(job(777))
    while (!existsSync(stopped)) await sleep(20)
    startWorker()
    expect(await done).toEqual([])
    expect(hung.exitCode).toBeNull()
  } finally {
    await engine.close()
    for (const worker of workers) worker.kill('SIGKILL')
  }
})

test('a queue whose Redis is full meanwhile says so, and goes on once there is room', {
  timeout: 120_000,
}, async () => {
  const told: RedisCondition[] = []
  const engine = openEngine(is => told.push(is))
  const client = new Redis(redis.url)
  try {
    startWorker()
    expect(await engine.perform(job(1))).toEqual([])
    await client.config('SET', 'maxmemory', '1')
    const done = engine.perform(job(1))
    while (!told.includes('full')) await sleep(20)
    await client.config('SET', 'maxmemory', '0')
    expect(await done).toEqual([])
    expect(told).toEqual(['full', 'well'])
  } finally {
    client.disconnect()
    await engine.close()
    for (const worker of workers) worker.kill('SIGKILL')
  }
})

test('a campaign and its worker can end while Redis is gone for good', { timeout: 60_000 }, async () => {
  const gone = await RealRedis.start()
  const told: RedisCondition[] = []
  const engine = openEngine(is => told.push(is), gone)
  try {
    const worker = startWorker(gone)
    expect(await engine.perform(job(1))).toEqual([])
    await gone.kill()
    while (!told.includes('lost')) await sleep(20)
    expect(await engine.workers()).toEqual(['Redis is away'])
    worker.kill('SIGTERM')
    expect(await once(worker, 'exit')).toEqual([0, null])
  } finally {
    await engine.close()
    await gone.stop()
  }
})

test('Redis of a version that is too old is refused with both versions', { timeout: 60_000 }, async () => {
  // No package has it any more: what it would say is said here.
  const info = '# Server\r\nredis_version:5.0.14\r\n'
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', data => {
      for (const _ of String(data).matchAll(/\*\d+\r\n/g)) socket.write(`$${info.length}\r\n${info}\r\n`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as { port: number }
    await expect(requireRedis(`redis://127.0.0.1:${port}`)).rejects.toThrow(
      `redis://127.0.0.1:${port} is Redis 5.0.14: a campaign needs 6.2 or newer`,
    )
  } finally {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
})
