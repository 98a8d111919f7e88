import { hostname } from 'node:os'
import type { Redis } from 'ioredis'

/** A system of a campaign, and what its workers must run. */
export interface Offered {
  /** Path of its configuration, relative to the campaign's directory. */
  readonly config: string
  /** Hashes by name: of the tool, the configuration and each program. */
  readonly programs: Readonly<Record<string, string>>
}

/** A running campaign as Redis stores it. */
export interface ListedCampaign {
  readonly id: string
  readonly systems: readonly Offered[]
  /** A worker that has not renewed the lock of its job for this long loses the job. */
  readonly lockMs: number
}

const index = 'lastnail:campaigns'
const keyOf = (id: string) => `lastnail:campaign:${id}`
const workersOf = (id: string) => `lastnail:campaign:${id}:workers`
export const queueOf = (id: string) => `lastnail-${id}`

/**
 * A campaign or worker that has not reported for this long counts as gone. It must be long, because a campaign that
 * executes a finding again does not report meanwhile.
 */
const seconds = 120
export const heartbeatMs = 5_000

export const announce = async (redis: Redis, campaign: ListedCampaign): Promise<void> => {
  await redis.sadd(index, campaign.id)
  await redis.set(keyOf(campaign.id), JSON.stringify(campaign), 'EX', seconds)
}

export const withdraw = async (redis: Redis, id: string): Promise<void> => {
  await redis.srem(index, id)
  await redis.del(keyOf(id), workersOf(id))
}

/**
 * Removes what a worker, or BullMQ for it, may have written after the campaign had removed all of its own. It holds no
 * job. Does nothing while the campaign runs.
 */
export const sweep = async (redis: Redis, id: string): Promise<void> => {
  if ((await redis.exists(keyOf(id))) === 1) return
  await redis.del(workersOf(id), ...['meta', 'stalled-check'].map(key => `bull:${queueOf(id)}:${key}`))
}

/** The running campaigns. */
export const campaigns = async (redis: Redis): Promise<ListedCampaign[]> => {
  const found: ListedCampaign[] = []
  for (const id of await redis.smembers(index)) {
    const text = await redis.get(keyOf(id))
    if (text === null) await redis.srem(index, id)
    else found.push(JSON.parse(text) as ListedCampaign)
  }
  return found
}

const workerName = `${hostname()}:${process.pid}`

/** Reports what a worker does for a campaign, or why it does nothing. */
export const report = async (redis: Redis, id: string, line: string): Promise<void> => {
  await redis.hset(workersOf(id), workerName, JSON.stringify({ at: Date.now(), line }))
  await redis.expire(workersOf(id), seconds)
}

/** What workers have recently reported for a campaign. */
export const reports = async (redis: Redis, id: string): Promise<string[]> =>
  Object.entries(await redis.hgetall(workersOf(id)))
    .map(([name, text]) => ({ name, ...(JSON.parse(text) as { at: number; line: string }) }))
    .filter(({ at }) => Date.now() - at < 1000 * seconds)
    .map(({ name, line }) => `${name}: ${line}`)
    .sort()

/** The first program that differs from the campaign's; undefined if all are the same. */
export const differenceIn = (wanted: Offered['programs'], found: Offered['programs']): string | undefined =>
  [...new Set([...Object.keys(wanted), ...Object.keys(found)])].find(name => wanted[name] !== found[name])
