import { defineSystem, linearizable, models, type RepeatedClient } from 'lastnail'
import { lock, members, observe, unlock } from './etcd.ts'

/** Takes the lock under a lease of two seconds that it does not renew, works for as long as that takes, and lets go of it. */
const worker = (member: 'n1' | 'n2'): RepeatedClient => {
  let key: string | undefined
  return {
    run: async (nodes, { ordinal, operation }) => {
      if (ordinal === 1) {
        key = undefined
        await operation({ op: 'acquire', key: 'job' }, async () => {
          key = await lock(nodes[member]!, 'job', 2)
        })
      } else if (key !== undefined) {
        const held = key
        await operation({ op: 'release', key: 'job' }, () => unlock(nodes[member]!, held).then(() => null))
      }
    },
    times: 2,
  }
}

/** Whoever has the lock of etcd 3.4 may lose it to another one while it works: nothing tells it that its lease is over. */
export default defineSystem({
  name: 'etcd-lock',
  nodes: members(),
  state: observe,
  clients: { ann: worker('n1'), bob: worker('n2') },
  properties: { mutualExclusion: linearizable(models.lock()) },
  overlap: 0,
})
