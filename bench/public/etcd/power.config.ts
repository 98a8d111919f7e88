import { type Client, defineSystem, linearizable, models } from 'lastnail'
import { appliedOnce, defragment, get, members, put } from './etcd.ts'

const read: Client = ({ n1 }, { operation }) =>
  operation({ op: 'read', key: 'x' }, async () => (await get(n1!, 'x')).value)

const write: Client = ({ n1 }, { ordinal, operation }) =>
  operation({ op: 'write', key: 'x', value: `${ordinal}` }, async () => {
    await put(n1!, 'x', `${ordinal}`)
  })

/** One member that may lose its power, and with it what it has not synced. */
export default defineSystem({
  name: 'etcd-power',
  // etcd answers in one thread while it syncs in another one.
  nodes: members(['n1'], [], 2),
  clients: {
    put: { run: write, times: 2 },
    get: { run: read, times: 2 },
    revision: { run: ({ n1 }) => get(n1!, 'x'), times: 2 },
    ...(process.env.DEFRAGMENT ? { defragment: ({ n1 }) => defragment(n1!) } : {}),
  },
  faults: { power: 1 },
  threads: process.env.DEFRAGMENT ? 0 : 1,
  properties: { nothingLost: linearizable(models.register(null)), appliedOnce },
})
