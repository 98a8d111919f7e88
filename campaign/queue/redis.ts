import { Redis } from 'ioredis'
import { QueueLacks, QueueRefused } from './error.ts'

/** BullMQ needs streams, and commands of this version. */
const versionMin = [6, 2] as const
const connectMs = 5_000

/** Settings that BullMQ needs: commands wait while Redis is away. */
export const redisConnectionOf = (url: string) => {
  const { hostname, port, username, password, pathname, protocol } = parse(url)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
    db: Number(pathname.slice(1) || 0),
    ...(username !== '' && { username: decoded(username, url) }),
    ...(password !== '' && { password: decoded(password, url) }),
    ...(protocol === 'rediss:' && { tls: {} }),
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(2_000, 100 * times),
  }
}

/** A URL without its secrets. */
export const shownUrl = (url: string): string => {
  const { protocol, host, pathname } = parse(url)
  return `${protocol}//${host}${pathname}`
}

const parse = (url: string): URL => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const isDatabase = /^\/?\d*$/.test(parsed?.pathname ?? '')
  if (parsed && ['redis:', 'rediss:'].includes(parsed.protocol) && parsed.hostname !== '' && isDatabase) return parsed
  const withoutSecrets = url.replace(/\/\/.*@/, '//')
  throw new QueueRefused(`expected an address such as redis://localhost:6379, found "${withoutSecrets}"`)
}

const decoded = (text: string, url: string): string => {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new QueueRefused(`the user or password of ${shownUrl(url)} is not encoded for a URL: "%" is written "%25"`, {
      cause,
    })
  }
}

/**
 * Checks that Redis can serve a campaign, before anything begins.
 *
 * @throws QueueRefused for a wrong address or password
 *
 * @throws QueueLacks if nothing answers, or it is too old, full, or may evict what it holds
 */
export const requireRedis = async (url: string): Promise<void> => {
  const shown = shownUrl(url)
  const redis = new Redis({
    ...redisConnectionOf(url),
    lazyConnect: true,
    connectTimeout: connectMs,
    commandTimeout: connectMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  // The reason of a failed connection is reported only here.
  let why: Error | undefined
  redis.on('error', error => {
    why ??= error
  })
  try {
    await redis.connect()
    requireVersion(shown, await redis.info('server'))
    requireRoom(shown, await redis.info('memory'))
    await redis.set('lastnail:probe', '1', 'EX', 1)
  } catch (error) {
    if (error instanceof QueueLacks || error instanceof QueueRefused) throw error
    throw explained(shown, /closed/.test((error as Error).message) ? (why ?? (error as Error)) : (error as Error))
  } finally {
    redis.disconnect()
  }
}

const field = (info: string, name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? ''

const requireVersion = (shown: string, info: string): void => {
  const version = field(info, 'redis_version')
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < versionMin[0] || (major === versionMin[0] && minor < versionMin[1]))
    throw new QueueLacks(
      `${shown} is Redis ${version || 'of no version'}: a campaign needs ${versionMin.join('.')} or newer`,
    )
}

const requireRoom = (shown: string, info: string): void => {
  const [used, max] = [Number(field(info, 'used_memory')), Number(field(info, 'maxmemory'))]
  const policy = field(info, 'maxmemory_policy')
  if (max > 0 && used >= max)
    throw new QueueLacks(`${shown} is full: ${used} of ${max} bytes are used; raise maxmemory`)
  if (max > 0 && policy !== 'noeviction')
    throw new QueueLacks(`${shown} may forget jobs: its maxmemory-policy is ${policy}, and must be noeviction`)
}

const explained = (shown: string, error: Error): Error => {
  const { message } = error
  if (/NOAUTH/.test(message))
    return new QueueRefused(`${shown} asks for a password: redis://:PASSWORD@HOST:PORT`, { cause: error })
  if (/WRONGPASS|invalid password/.test(message))
    return new QueueRefused(`${shown} refuses this user or password`, { cause: error })
  if (/NOPERM/.test(message)) return new QueueRefused(`${shown} forbids this user what a campaign does: ${message}`)
  if (/^OOM|MISCONF/.test(message)) return new QueueLacks(`${shown} takes nothing more: ${message}`, { cause: error })
  return new QueueLacks(`cannot use Redis at ${shown}: ${message || (error as NodeJS.ErrnoException).code}`, {
    cause: error,
  })
}
