import { join } from 'node:path'
import { always, type Client, defineSystem, type GlobalState, type NodeDefinition, type NodeHandle } from 'lastnail'
import { packageRoot } from '../corpus/package-root.ts'

const { ask, members, observe } = (await import(join(packageRoot, 'examples/etcd/etcd.ts'))) as {
  ask(node: NodeHandle, path: string, asked: object): Promise<Record<string, unknown>>
  members(): Record<string, NodeDefinition>
  observe(node: NodeHandle): unknown
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

/**
 * Takes the lock under a lease of two seconds, which it does not renew, works for four seconds, the time between two of its calls,
 * and gives the lock back.
 */
const worker =
  (member: string, firstLease: number): Client =>
  async (nodes, { ordinal }) => {
    const node = nodes[member]!
    if (ordinal % 2 === 0) {
      // The lease is known no more if it has ended.
      await ask(node, '/v3/lease/revoke', { ID: firstLease + ordinal - 1 }).catch(() => undefined)
      return 'free'
    }
    await ask(node, '/v3/lease/grant', { TTL: 2, ID: firstLease + ordinal })
    await ask(node, '/v3/lock/lock', { name: base64('job'), lease: firstLease + ordinal })
    return 'has'
  }

/** The clients that have the lock and were told so. */
const holders = ({ calls }: GlobalState): readonly string[] => {
  const last = new Map(calls.map(({ client, value }) => [client, value]))
  return [...last].flatMap(([client, value]) => (value === 'has' ? [client] : []))
}

/** Two clients of etcd take turns with a lock. */
export default defineSystem({
  name: 'etcd-steered',
  nodes: members(),
  state: observe,
  clients: { ann: worker('n1', 1000), bob: worker('n2', 2000) },
  properties: { mutualExclusion: always(state => holders(state).length < 2) },
  overlap: 0,
  emulation: {
    topology: { kind: 'inet', nodes: 500, meanRtt: 130 },
    clients: { ann: '4s', bob: '4s' },
    for: '20s',
  },
})
