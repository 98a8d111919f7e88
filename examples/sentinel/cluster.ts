import type { GlobalState, NodeHandle } from 'lastnail'
import { pipeline, type Reply, redis } from '../redis/redis.ts'

/** What can be seen of a server from outside; nothing of a sentinel. */
export interface Server {
  role: 'master' | 'slave'
  /** A replica's link to its primary: `connected`, or a stage on the way there. */
  link: string | undefined
  /** Keys of the writes that it holds. */
  writes: string[]
}

export const observe = async (node: NodeHandle): Promise<Server | undefined> => {
  if (node.name.startsWith('s')) return undefined
  const [of, keys] = await pipeline(node, [['ROLE'], ['KEYS', '*']])
  const [role, , , link] = of as [Server['role'], ...Reply[]]
  const writes = keys as string[]
  return { role, link: role === 'slave' ? String(link) : undefined, writes: writes.sort() }
}

/** Writes a key of its own to the server that began as the primary: who is cut off from the others still reaches it. */
export const write = async (
  { primary }: Readonly<Record<string, NodeHandle>>,
  { ordinal }: { readonly ordinal: number },
): Promise<string> => {
  await redis(primary!, 'SET', `k${ordinal}`, 'x')
  return `k${ordinal}`
}

/** The promoted replica, which all others follow from then on, has every write that was acknowledged. */
export const acknowledgedWritesSurvive = (state: GlobalState<Server>): boolean => {
  const replica = state.node('replica').state
  if (replica?.role !== 'master') return true
  const acknowledged = state.calls.flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
  return acknowledged.every(key => replica.writes.includes(key))
}
