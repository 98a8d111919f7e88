import { type Client, defineSystem, eventually, type GlobalState, linearizable, models } from 'lastnail'
import { lock, members, observe } from './etcd.ts'

/** Takes the lock under a lease of two seconds that it does not renew, and works from then on. */
const worker =
  (member: 'n1' | 'n2'): Client =>
  (nodes, { operation }) =>
    operation({ op: 'acquire', key: 'job' }, async () => {
      await lock(nodes[member]!, 'job', 2)
    })

/** The lease of the one ends, and so the other one has its turn. */
const bothHadTheLock = ({ history }: GlobalState) => history.filter(({ outcome }) => outcome === 'ok').length === 2

/** Whoever has the lock of etcd 3.4 may lose it to another one while it works: nothing tells it that its lease is over. */
export default defineSystem({
  name: 'etcd-lock',
  nodes: members(),
  state: observe,
  clients: { ann: worker('n1'), bob: worker('n2') },
  properties: { mutualExclusion: linearizable(models.lock()), everyoneHasATurn: eventually(bothHadTheLock) },
  overlap: 0,
  // What members store has times in it, so that the way to the violation would differ from day to day.
  clocks: { skew: 'independent', start: '2026-12-01' },
})
