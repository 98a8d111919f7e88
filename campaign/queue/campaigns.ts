import { hostname } from 'node:os'
import type { Redis } from 'ioredis'

/** A system of a campaign, with what its workers have to run. */
export interface Offered {
  /** Path of its configuration, from the directory of the campaign. */
  readonly config: string
  /** Hashes by name: of the tool, of the configuration, of each program. */
  readonly programs: Readonly<Record<string, string>>
}

/** What Redis says of a campaign that is under way. */
export interface Campaign {
  readonly id: string
  readonly systems: readonly Offered[]
  /** Of a job that is done; a worker that has not renewed it for so long has lost the job. */
  readonly lockMs: number
}

const index = 'lastnail:campaigns'
const keyOf = (id: string) => `lastnail:campaign:${id}`
const workersOf = (id: string) => `lastnail:campaign:${id}:workers`
export const queueOf = (id: string) => `lastnail-${id}`

/** Who has not said for so long that it is there is gone: a campaign that executes what was found says nothing meanwhile. */
const seconds = 120
export const heartbeatMs = 5_000

export const announce = async (redis: Redis, campaign: Campaign): Promise<void> => {
  await redis.sadd(index, campaign.id)
  await redis.set(keyOf(campaign.id), JSON.stringify(campaign), 'EX', seconds)
}

export const withdraw = async (redis: Redis, id: string): Promise<void> => {
  await redis.srem(index, id)
  await redis.del(keyOf(id), workersOf(id))
}

/** The campaigns that are under way. */
export const campaigns = async (redis: Redis): Promise<Campaign[]> => {
  const found: Campaign[] = []
  for (const id of await redis.smembers(index)) {
    const text = await redis.get(keyOf(id))
    if (text === null) await redis.srem(index, id)
    else found.push(JSON.parse(text) as Campaign)
  }
  return found
}

export const workerName = `${hostname()}:${process.pid}`

/** A worker says what it does for a campaign, or why it does nothing. */
export const report = async (redis: Redis, id: string, line: string): Promise<void> => {
  await redis.hset(workersOf(id), workerName, JSON.stringify({ at: Date.now(), line }))
  await redis.expire(workersOf(id), seconds)
}

/** What its workers say, those that were heard of lately. */
export const reports = async (redis: Redis, id: string): Promise<string[]> =>
  Object.entries(await redis.hgetall(workersOf(id)))
    .map(([name, text]) => ({ name, ...(JSON.parse(text) as { at: number; line: string }) }))
    .filter(({ at }) => Date.now() - at < 1000 * seconds)
    .map(({ name, line }) => `${name}: ${line}`)
    .sort()

/** The first program that is another here than in the campaign; undefined where all are the same. */
export const differenceIn = (wanted: Offered['programs'], found: Offered['programs']): string | undefined =>
  [...new Set([...Object.keys(wanted), ...Object.keys(found)])].find(name => wanted[name] !== found[name])
