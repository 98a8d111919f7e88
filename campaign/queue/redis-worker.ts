import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { campaigns, differenceIn, heartbeatMs, type ListedCampaign, queueOf, report, sweep } from './campaigns.ts'
import type { Performers } from './engine.ts'
import { encodeAnswers, type Job } from './job.ts'
import { redisConnectionOf } from './redis.ts'

export interface RedisWorkerOptions {
  readonly url: string
  readonly performers: Performers
  /** Hashes of what a configuration runs here, by name. Throws if it cannot be loaded. */
  readonly programsOf: (config: string) => Promise<Readonly<Record<string, string>>>
  readonly signal: AbortSignal
  readonly onLine: (line: string) => void
}

/** How often new campaigns are looked for. */
const lookMs = 1_000
/**
 * A worker that is asked to end finishes the jobs that it has begun, for no longer than this. Without Redis, closing a
 * connection may take for ever.
 */
const leaveMsMax = 10_000
/** A job that ended this many workers is given up when it ends another. */
const stalledMax = 2

/**
 * Takes jobs of all campaigns whose programs this machine has too, until it is asked to end. This process renews the
 * locks of jobs; its event loop is never blocked, because performers execute in processes of their own.
 */
export const workFor = async ({ url, performers, programsOf, signal, onLine }: RedisWorkerOptions): Promise<void> => {
  const redis = new Redis(redisConnectionOf(url))
  let isLost = false
  redis.on('error', ({ message }) => {
    if (!isLost) onLine(`Redis is lost (${message}): what was begun is done again`)
    isLost = true
  })
  redis.on('ready', () => {
    if (isLost) onLine('Redis is back')
    isLost = false
  })
  const joined = new Map<string, Joined>()
  try {
    while (!signal.aborted) {
      if (redis.status === 'ready') {
        const all = await campaigns(redis).catch(() => undefined)
        if (all) await keepUp(all, joined)
      }
      await sleep(lookMs, undefined, { signal }).catch(() => undefined)
    }
  } finally {
    await Promise.race([Promise.all([...joined].map(leave)), sleep(leaveMsMax)])
    redis.disconnect()
  }

  async function keepUp(all: readonly ListedCampaign[], known: Map<string, Joined>): Promise<void> {
    for (const [id, here] of known) {
      if (all.some(each => each.id === id)) continue
      known.delete(id)
      onLine(`campaign ${id} is over`)
      void leave([id, here])
    }
    for (const campaign of all) {
      const here = known.get(campaign.id) ?? (await join(campaign))
      known.set(campaign.id, here)
      if (Date.now() - here.reported < heartbeatMs) continue
      here.reported = Date.now()
      const line = here.refused ?? `${here.done} jobs done, ${performers.busy} of ${performers.size} at work`
      await report(redis, campaign.id, line).catch(() => undefined)
    }
  }

  async function join(campaign: ListedCampaign): Promise<Joined> {
    const refused = await difference(campaign)
    if (refused !== undefined) {
      onLine(`takes nothing of campaign ${campaign.id}: ${refused}`)
      return { refused, done: 0, reported: 0 }
    }
    onLine(`takes jobs of campaign ${campaign.id}`)
    const here: Joined = { done: 0, reported: 0 }
    here.worker = new Worker<Job, string>(
      queueOf(campaign.id),
      async ({ data }) => {
        const answers = await performers.perform({ ...data, campaign: campaign.id })
        here.done += 1
        return encodeAnswers(answers)
      },
      {
        connection: redisConnectionOf(url),
        concurrency: performers.size,
        lockDuration: campaign.lockMs,
        stalledInterval: campaign.lockMs,
        maxStalledCount: stalledMax,
      },
    )
    // A job whose lock was lost is done again. A lost Redis is reported above.
    here.worker.on('error', () => undefined)
    return here
  }

  async function leave([id, { worker }]: readonly [string, Joined]): Promise<void> {
    const isAway = redis.status !== 'ready'
    await worker?.close(isAway).catch(() => undefined)
    if (!isAway) await sweep(redis, id).catch(() => undefined)
  }

  /** Why this machine may not take jobs: its programs differ, so its results would. */
  async function difference({ systems }: ListedCampaign): Promise<string | undefined> {
    for (const { config, programs } of systems) {
      const found = await programsOf(config).catch((error: Error) => error)
      if (found instanceof Error) return `${config}: ${found.message}`
      const name = differenceIn(programs, found)
      if (name !== undefined) return `${config}: ${name} differs from where the campaign was begun`
    }
    return undefined
  }
}

interface Joined {
  worker?: Worker
  readonly refused?: string
  done: number
  /** When it last reported. */
  reported: number
}
