import type { GlobalState, NodeHandle } from 'lastnail'
import { observe as observeServer, type Server } from '../redis/cluster.ts'
import { redis } from '../redis/redis.ts'

/** Nothing is seen of a sentinel. */
export const observe = async (node: NodeHandle): Promise<Server | undefined> =>
  node.name === 'sentinel' ? undefined : observeServer(node)

/** Writes a key of its own. */
export const write = async (
  { primary }: Readonly<Record<'primary' | 'replica' | 'sentinel', NodeHandle>>,
  { ordinal }: { readonly ordinal: number },
): Promise<string> => {
  await redis(primary, 'SET', `k${ordinal}`, 'x')
  return `k${ordinal}`
}

/** A replica that was promoted has every write that was acknowledged. */
export const acknowledgedWritesSurvive = (state: GlobalState<Server>): boolean => {
  const replica = state.node('replica').state
  if (replica?.role !== 'master') return true
  const acknowledged = state.calls.flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
  return acknowledged.every(key => replica.writes.includes(key))
}
