import { join } from 'node:path'
import { always, defineSystem, frames, type GlobalState, type NodeHandle } from 'lastnail'
import { packageRoot } from '../corpus/package-root.ts'

interface Server {
  readonly role: 'master' | 'slave'
  readonly writes: readonly string[]
}

const examples = join(packageRoot, 'examples')
const [{ server }, { redis }, { observe }] = (await Promise.all(
  ['redis/server.ts', 'redis/redis.ts', 'redis/cluster.ts'].map(path => import(join(examples, path))),
)) as [
  { server(name: string, more?: Readonly<Record<string, string>>): { command: string[]; listens: number } },
  { redis(node: NodeHandle, ...command: readonly string[]): Promise<unknown> },
  { observe(node: NodeHandle): Promise<Server> },
]

/** Who promotes the replica: an operator, or a sentinel, which does it to one that waits for its first copy. */
const isOfSentinel = process.env.EXAMPLE === 'sentinel'
const [promoter, promotion] = isOfSentinel
  ? [
      'sentinel',
      {
        command: ['redis-server', 'config/sentinel.conf', '--sentinel'],
        listens: 26379,
        cwd: join(examples, 'sentinel'),
      },
    ]
  : [
      'operator',
      { command: ['node', join(import.meta.dirname, 'operator.js'), '{{primary.address}}', '{{replica.address}}'] },
    ]

/** Writes a key of its own at the replica once that is promoted, else at the primary. */
const write = async (
  { primary, replica }: Readonly<Record<'primary' | 'replica', NodeHandle>>,
  { ordinal }: { readonly ordinal: number },
): Promise<string> => {
  const { role } = await observe(replica)
  await redis(role === 'master' ? replica : primary, 'SET', `k${ordinal}`, 'x')
  return `k${ordinal}`
}

const acknowledgedWritesSurvive = ({ calls, node }: GlobalState<Server>): boolean => {
  const replica = node('replica').state
  const acknowledged = calls.flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
  return replica?.role !== 'master' || acknowledged.every(key => replica.writes.includes(key))
}

/** Redis over an internet, with somebody who promotes the replica. */
export default defineSystem({
  name: `${promoter}-steered`,
  nodes: {
    primary: server('primary', isOfSentinel ? { 'repl-diskless-sync-delay': '5' } : {}),
    replica: server('replica', { replicaof: '{{primary.address}} 6379' }),
    [promoter]: promotion,
  },
  state: async node => (node.name === promoter ? undefined : observe(node)),
  clients: { write },
  properties: { acknowledgedWritesSurvive: always(acknowledgedWritesSurvive) },
  overlap: 0,
  messages: frames.resp(),
  emulation: { topology: { kind: 'inet', nodes: 500, meanRtt: 130 }, clients: { write: '500ms' }, for: '12s' },
})
