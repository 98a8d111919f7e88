import type { Duplex } from 'node:stream'
import type { ClientCall, GlobalState, NodeHandle } from 'lastnail'
import { pipeline, type Reply, redis } from './redis.ts'

/** What can be seen of a server from outside. */
export interface Server {
  role: 'master' | 'slave'
  /** A replica's link to its primary: `connected`, or a stage on the way there. */
  link: string | undefined
  /** Keys of the writes that it holds. */
  writes: string[]
}

export const observe = async (node: NodeHandle): Promise<Server> => {
  const [of, keys] = await pipeline(node, [['ROLE'], ['KEYS', '*']])
  const [role, , , link] = of as [Server['role'], ...Reply[]]
  const writes = keys as string[]
  return { role, link: role === 'slave' ? String(link) : undefined, writes: writes.sort() }
}

/** A session that writes three keys of its own, one after the other; returns them when all are acknowledged. */
export const write = async (
  { primary }: Readonly<Record<'primary', NodeHandle>>,
  { ordinal }: { readonly ordinal: number },
): Promise<string[]> => {
  const keys = ['a', 'b', 'c'].map(letter => `${letter}${ordinal}`)
  for (const key of keys) await redis(primary, 'SET', key, 'x')
  return keys
}

export const read = ({ replica2 }: Readonly<Record<'replica2', NodeHandle>>): Promise<Reply> =>
  redis(replica2, 'GET', 'a1')

/** The operator: keeps a connection to the primary, and when it breaks promotes the first replica if that is in sync. */
export const failover = async ({
  primary,
  replica1,
}: Readonly<Record<'primary' | 'replica1', NodeHandle>>): Promise<string> => {
  await lost(primary.tcp(6379))
  const { link } = await observe(replica1)
  if (link !== 'connected') return 'not in sync'
  await redis(replica1, 'REPLICAOF', 'NO', 'ONE')
  return 'promoted'
}

const lost = (connection: Duplex) => new Promise<void>(resolve => connection.on('error', () => {}).on('close', resolve))

/** The promoted replica has every write that was acknowledged before it was promoted. */
export const acknowledgedWritesSurvive = (state: GlobalState<Server>): boolean => {
  const promotion = state.calls.find(call => call.client === 'failover' && call.value === 'promoted')
  const promoted = state.node('replica1').state
  if (!promotion || !promoted) return true
  return acknowledgedBefore(promotion, state.calls).every(key => promoted.writes.includes(key))
}

const acknowledgedBefore = (promotion: ClientCall, calls: readonly ClientCall[]) =>
  calls
    .filter(call => call.client === 'write' && call.error === undefined)
    .filter(call => call.completedAt !== undefined && call.completedAt < promotion.completedAt!)
    .flatMap(call => call.value as string[])
