import { defineSystem, linearizable, models } from 'lastnail'
import { get, members, observe, put } from './etcd.ts'

/** Three members keep one register, whatever the network does: no violation is known. */
export default defineSystem({
  name: 'etcd',
  nodes: members(),
  state: observe,
  clients: {
    ann: ({ n1 }, { operation }) =>
      operation({ op: 'write', key: 'x', value: '1' }, () => put(n1!, 'x', '1').then(() => null)),
    bob: ({ n2 }, { operation }) => operation({ op: 'read', key: 'x' }, () => get(n2!, 'x')),
    cid: ({ n3 }, { operation }) => operation({ op: 'read', key: 'x' }, () => get(n3!, 'x')),
  },
  properties: { linearizable: linearizable(models.register(null)) },
  faults: { crash: 1, partition: 1 },
  overlap: 0,
})
