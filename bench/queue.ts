/**
 * What a queue costs beside its jobs: `npm run bench:queue -- [--jobs 10] [--ms 1000]`. A worker process takes jobs that each
 * compute for that long and have an answer like that of sixteen executions of 100 steps. One run measures the CPU time that the
 * asker, Redis and the worker use for a job besides its own, and how much later its answer comes. It needs redis-server.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Performers } from '../campaign/queue/engine.ts'
import type { Job, JobAnswer } from '../campaign/queue/job.ts'
import { RedisEngine } from '../campaign/queue/redis-engine.ts'
import { workFor } from '../campaign/queue/redis-worker.ts'

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '10' },
    ms: { type: 'string', default: '1000' },
    worker: { type: 'string' },
  },
})
const milliseconds = Number(values.ms)

/** As long as an execution's. */
const outcomeOf = (ordinal: number) => ({
  schedule: Array.from({ length: 100 }, (_, step) => ({
    ...{ kind: 'deliver', node: `n${step % 3}`, subject: 'append', numbers: [step, ordinal] },
    ...{ from: `n${(step + 1) % 3}`, to: `n${step % 3}`, ordinal: step, hash: `${ordinal * 7919 + step * 104729}` },
    label: `n${(step + 1) % 3}→n${step % 3} #${step} append term=${ordinal} index=${step}`,
  })),
  fingerprints: Array.from({ length: 101 }, (_, step) => `${ordinal}${step}`.padEnd(40, 'f')),
})

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Computes, then returns how long that took, which the measurement subtracts, and the CPU time used before and after. */
const perform = async ({ tasks }: Job): Promise<JobAnswer[]> => {
  const before = cpuMs()
  const begun = performance.now()
  while (performance.now() - begun < milliseconds);
  const tookMs = performance.now() - begun
  return tasks.map(
    (_, ordinal) =>
      ({ outcome: outcomeOf(ordinal), notes: [`${tookMs}`, `${before}`, `${cpuMs()}`] }) as unknown as JobAnswer,
  )
}

const work = (url: string) =>
  workFor({
    ...{ url, signal: new AbortController().signal, onLine: () => undefined },
    performers: new Performers([{ perform, end: async () => undefined }]),
    programsOf: async () => ({}),
  })

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

const ticksPerSecond = 100
/** CPU time of another process, by ticks of 10 ms. */
const cpuMsOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond
}

const measure = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-queue-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', directory, '--appendonly', 'yes']
  const redis = spawn('redis-server', options, { stdio: 'ignore' })
  const worker = spawn(process.execPath, [process.argv[1]!, '--worker', url, '--ms', values.ms], { stdio: 'inherit' })
  const engine = new RedisEngine({ url, systems: [], width: 1, lockMs: 15_000, onRedis: () => undefined })
  const job = { config: '', seed: 1, tasks: Array.from({ length: 16 }, () => ({})) } as unknown as Job
  try {
    const ask = async () =>
      ((await engine.perform(job))[0] as { notes: readonly string[] }).notes.map(Number) as number[]
    let [, , workerMs] = await ask()
    let besideMs = 0
    const [askerMs, redisMs] = [cpuMs(), cpuMsOf(redis.pid!)]
    const shares: number[] = []
    for (let count = 0; count < Number(values.jobs); count++) {
      const begun = performance.now()
      const [tookMs, before, after] = (await ask()) as [number, number, number]
      shares.push((performance.now() - begun - tookMs) / tookMs)
      besideMs += before - workerMs!
      workerMs = after
    }
    const cpu = [cpuMs() - askerMs, cpuMsOf(redis.pid!) - redisMs, besideMs].map(ms => ms / shares.length)
    const sum = cpu.reduce((total, ms) => total + ms, 0)
    const [asker, server, taker] = cpu.map(ms => ms.toFixed(1))
    console.log(
      `CPU besides, for a job of ${milliseconds} ms: ${sum.toFixed(1)} ms (asker ${asker}, Redis ${server}, worker ${taker})`,
    )
    shares.sort((one, other) => one - other)
    const percent = (share: number) => `${(100 * share).toFixed(2)} %`
    const [least, median, most] = [shares[0]!, shares[Math.floor(shares.length / 2)]!, shares.at(-1)!]
    console.log(
      `from asked to answered a job takes ${percent(median)} longer (median of ${shares.length}; ${percent(least)} to ${percent(most)})`,
    )
  } finally {
    worker.kill('SIGKILL')
    await engine.close()
    redis.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  }
}

await (values.worker === undefined ? measure() : work(values.worker))
