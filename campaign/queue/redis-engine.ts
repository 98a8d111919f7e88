import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue, QueueEvents } from 'bullmq'
import { Redis } from 'ioredis'
import { announce, heartbeatMs, type Offered, queueOf, reports, withdraw } from './campaigns.ts'
import { GivenUp, type QueueEngine } from './engine.ts'
import { decodeAnswers, type Job, type JobAnswer } from './job.ts'
import { redisConnectionOf } from './redis.ts'

export interface RedisEngineOptions {
  readonly url: string
  readonly systems: readonly Offered[]
  /** How many jobs are under way at once. */
  readonly width: number
  readonly lockMs: number
  /** Called once each when Redis is lost or full, and when it is well again. */
  readonly onRedis: (is: RedisCondition) => void
}

export type RedisCondition = 'well' | 'lost' | 'full'

/** How often answers are polled, besides events: an event may be lost with Redis. */
const lookMs = 1_000
/**
 * Without Redis, commands wait for ever. So the engine waits for the removal of its queue no longer than this: if it
 * were shorter, a busy Redis would keep the queue.
 */
const leaveMsMax = 5_000
/** How many events Redis keeps. Each holds an answer. */
const eventsMax = 100

interface Pending {
  readonly job: Job
  readonly resolve: (answers: readonly JobAnswer[]) => void
  readonly reject: (error: unknown) => void
}

/** The engine of a campaign whose jobs are done by `lastnail worker` on any machines, through a BullMQ queue. */
export class RedisEngine implements QueueEngine {
  readonly width: number
  readonly #id = randomBytes(8).toString('hex')
  readonly #redis: Redis
  readonly #queue: Queue
  readonly #events: QueueEvents
  readonly #pending = new Map<string, Pending>()
  readonly #timers: NodeJS.Timeout[]
  #ordinal = 0
  /** Redis may take longer to answer than until the next look. */
  #isLooking = false
  readonly #onRedis: RedisEngineOptions['onRedis']
  #condition: RedisCondition = 'well'

  constructor({ url, systems, width, lockMs, onRedis }: RedisEngineOptions) {
    this.#onRedis = onRedis
    this.width = width
    const connection = redisConnectionOf(url)
    this.#redis = new Redis(connection)
    const streams = { events: { maxLen: eventsMax } }
    this.#queue = new Queue(queueOf(this.#id), { connection, streams })
    this.#events = new QueueEvents(queueOf(this.#id), { connection })
    // The connection reports the state of Redis. Lost jobs are added again.
    this.#redis.on('error', () => undefined)
    this.#queue.on('error', () => undefined)
    this.#events.on('error', () => undefined)
    this.#redis.on('ready', () => this.#tell('well')).on('close', () => this.#tell('lost'))
    this.#events.on('completed', ({ jobId }) => void this.#look(jobId).catch(() => undefined))
    this.#events.on('failed', ({ jobId }) => void this.#look(jobId).catch(() => undefined))
    const campaign = { id: this.#id, systems, lockMs }
    const beat = () => void announce(this.#redis, campaign).catch(() => undefined)
    beat()
    this.#timers = [setInterval(beat, heartbeatMs), setInterval(() => void this.#lookForAll(), lookMs)]
  }

  perform(job: Job): Promise<readonly JobAnswer[]> {
    const id = `job-${++this.#ordinal}`
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { job, resolve, reject })
      // If Redis is lost meanwhile, the next poll adds the job.
      this.#add(id, job).catch(() => undefined)
    })
  }

  async workers(): Promise<readonly string[]> {
    const away = ['Redis is away']
    if (this.#condition === 'lost') return away
    const reported = reports(this.#redis, this.#id).catch(() => [])
    return Promise.race([reported, sleep(lookMs, away)])
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    this.#pending.clear()
    if (this.#condition !== 'lost') await Promise.race([this.#leave(), sleep(leaveMsMax)])
    this.#redis.disconnect()
    // To end a connection that is trying to connect again takes for ever, so nobody waits for this.
    for (const connection of [this.#events, this.#queue]) void connection.disconnect().catch(() => undefined)
  }

  async #leave(): Promise<void> {
    await withdraw(this.#redis, this.#id).catch(() => undefined)
    await this.#queue.obliterate({ force: true }).catch(() => undefined)
    await Promise.allSettled([this.#events.close(), this.#queue.close()])
  }

  #tell(condition: RedisCondition): void {
    if (this.#condition !== condition) this.#onRedis(condition)
    this.#condition = condition
  }

  /** Adds a job. Adding the same id again has no effect. */
  async #add(id: string, job: Job): Promise<void> {
    try {
      await this.#queue.add('tasks', job, { jobId: id, attempts: 3 })
      this.#tell('well')
    } catch (error) {
      if (/\bOOM\b/.test((error as Error).message)) this.#tell('full')
      throw error
    }
  }

  async #lookForAll(): Promise<void> {
    if (this.#condition === 'lost' || this.#isLooking) return
    this.#isLooking = true
    for (const id of [...this.#pending.keys()]) await this.#look(id).catch(() => undefined)
    this.#isLooking = false
  }

  /** Takes the answer of a job if there is one, and adds a job again that Redis has lost. */
  async #look(id: string): Promise<void> {
    const pending = this.#pending.get(id)
    if (!pending) return
    const found = await this.#queue.getJob(id)
    if (!found) return this.#add(id, pending.job)
    const isDone = found.finishedOn !== undefined && found.finishedOn !== null
    if (!isDone || !this.#pending.delete(id)) return
    // A job that failed at first and was done later still has the reason of its failure.
    if (typeof found.returnvalue === 'string') pending.resolve(decodeAnswers(found.returnvalue))
    else pending.reject(new GivenUp(`a job was given up after it was begun three times: ${found.failedReason}`))
    await found.remove()
  }
}
