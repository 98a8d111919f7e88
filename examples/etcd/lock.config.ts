import { always, defineSystem, type GlobalState } from 'lastnail'
import { lock, members, observe, unlock } from './etcd.ts'

/** Each takes the lock under a lease of two seconds, does its work for as long as that takes, and lets go of it. */
const worker = (member: 'n1' | 'n2') => ({
  run: async (nodes: Record<string, Parameters<typeof lock>[0]>, { ordinal }: { ordinal: number }) =>
    ordinal === 1 ? lock(nodes[member]!, 'job', 2) : unlock(nodes[member]!, 'job').then(() => null),
  times: 2,
})

/** Whoever was given the lock, and has not let go of it. */
const holders = ({ calls }: GlobalState) =>
  ['ann', 'bob'].filter(name => {
    const own = calls.filter(({ client }) => client === name)
    return typeof own[0]?.value === 'string' && own[1] === undefined
  })

export default defineSystem({
  name: 'etcd-lock',
  nodes: members(),
  state: observe,
  clients: { ann: worker('n1'), bob: worker('n2') },
  properties: { mutualExclusion: always((state: GlobalState) => holders(state).length < 2) },
  overlap: 0,
})
