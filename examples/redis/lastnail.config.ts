import { always, type ClientCall, defineSystem, frames, type GlobalState, type NodeHandle } from 'lastnail'
import { type Reply, redis } from './redis.ts'

/** What an operator sees of a server. */
interface Server {
  role: 'master' | 'slave'
  /** A replica's link to its primary: `connected`, or a stage on the way there. */
  link: string | undefined
  writes: string[]
}

const server = (name: string, ...more: readonly string[]) => ({
  command: [
    ...['redis-server', '--bind', `{{${name}.address}}`, '--protected-mode', 'no', '--save', ''],
    // The first copy goes from memory to memory, at once, and the server's own timer ticks once a second, not ten times.
    ...['--repl-diskless-sync-delay', '0', '--repl-diskless-load', 'on-empty-db', '--hz', '1', '--dynamic-hz', 'no'],
    ...more,
  ],
  listens: 6379,
})

const replica = (name: string) => server(name, '--replicaof', '{{primary.address}} 6379')

const observe = async (node: NodeHandle): Promise<Server> => {
  const [role, , , link] = (await redis(node, 'ROLE')) as [Server['role'], ...Reply[]]
  const writes = (await redis(node, 'KEYS', '*')) as string[]
  return { role, link: role === 'slave' ? String(link) : undefined, writes: writes.sort() }
}

/** Whether a replica once had a primary and has it no more. */
const lostItsPrimary = async (node: NodeHandle) => {
  const info = (await redis(node, 'INFO', 'replication')) as string
  return /^master_link_down_since_seconds:\d/m.test(info)
}

/** Writes that the primary acknowledged before the operator turned to the replica. */
const acknowledgedBefore = (promotion: ClientCall, calls: readonly ClientCall[]) =>
  calls
    .filter(call => call.client === 'write' && call.error === undefined)
    .filter(call => call.completedAt !== undefined && call.completedAt < promotion.invokedAt)
    .map(call => call.value as string)

const acknowledgedWritesSurvive = (state: GlobalState<Server>) => {
  const promotion = state.calls.find(call => call.client === 'promote' && call.value === 'promoted')
  const promoted = state.node('replica1').state
  if (!promotion || !promoted) return true
  return acknowledgedBefore(promotion, state.calls).every(key => promoted.writes.includes(key))
}

export default defineSystem({
  name: 'redis',
  nodes: {
    primary: server('primary'),
    replica1: replica('replica1'),
    replica2: replica('replica2'),
  },
  state: observe,
  clients: {
    /** Writes a key of its own, and returns it when the write is acknowledged. */
    write: {
      call: async ({ primary }, { ordinal }) => {
        const key = `write${ordinal}`
        await redis(primary, 'SET', key, 'x')
        return key
      },
      times: 2,
    },
    read: ({ replica2 }) => redis(replica2, 'GET', 'write1'),
    /** What an operator does on the side of a replica that was cut off from its primary. */
    promote: async ({ replica1 }) => {
      if (!(await lostItsPrimary(replica1))) return 'not needed'
      await redis(replica1, 'REPLICAOF', 'NO', 'ONE')
      return 'promoted'
    },
  },
  properties: { acknowledgedWritesSurvive: always(acknowledgedWritesSurvive) },
  faults: { reset: 1 },
  messages: frames.resp(),
})
