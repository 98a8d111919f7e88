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

/** Writes a key of its own, and returns it when the write is acknowledged. */
export const write = async (
  { primary }: Readonly<Record<'primary', NodeHandle>>,
  { ordinal }: { readonly ordinal: number },
): Promise<string> => {
  const key = `write${ordinal}`
  await redis(primary, 'SET', key, 'x')
  return key
}

export const read = ({ replica2 }: Readonly<Record<'replica2', NodeHandle>>): Promise<Reply> =>
  redis(replica2, 'GET', 'write1')

/** What an operator does on the side of a replica that was cut off from its primary: nothing before it was. */
export const promote = async ({ replica1 }: Readonly<Record<'replica1', NodeHandle>>): Promise<string> => {
  if (!(await lostItsPrimary(replica1))) return 'not needed'
  await redis(replica1, 'REPLICAOF', 'NO', 'ONE')
  return 'promoted'
}

/** Whether a replica has had a primary and has it no more; the server says -1 seconds where it never had one. */
const lostItsPrimary = async (replica: NodeHandle) => {
  const info = (await redis(replica, 'INFO', 'replication')) as string
  return /^master_link_down_since_seconds:\d/m.test(info)
}

/** The promoted replica has every write that was acknowledged before the operator turned to it. */
export const acknowledgedWritesSurvive = (state: GlobalState<Server>): boolean => {
  const promotion = state.calls.find(call => call.client === 'promote' && call.value === 'promoted')
  const promoted = state.node('replica1').state
  if (!promotion || !promoted) return true
  return acknowledgedBefore(promotion, state.calls).every(key => promoted.writes.includes(key))
}

const acknowledgedBefore = (promotion: ClientCall, calls: readonly ClientCall[]) =>
  calls
    .filter(call => call.client === 'write' && call.error === undefined)
    .filter(call => call.completedAt !== undefined && call.completedAt < promotion.invokedAt)
    .map(call => call.value as string)
