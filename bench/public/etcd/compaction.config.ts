import { defineSystem, type GlobalState, reach } from 'lastnail'
import { compact, type Done, get, members, nothingMissed, put, remove, revisionGrows, watchUntilNow } from './etcd.ts'

/** One member that may crash while it compacts, a revision in each transaction. */
export default defineSystem({
  name: 'etcd-compaction',
  nodes: members(['n1'], ['--experimental-compaction-batch-limit=1']),
  clients: {
    put: ({ n1 }) => put(n1!, 'x', '1'),
    delete: ({ n1 }) => remove(n1!, 'x'),
    compact: ({ n1 }) => compact(n1!),
    get: { run: ({ n1 }) => get(n1!, 'x'), times: 2 },
    ...(process.env.WATCH ? { watch: ({ n1 }) => watchUntilNow(n1!) } : {}),
  },
  goal: reach('the deletion was compacted', ({ calls }: GlobalState) => {
    const [deletion, compaction] = ['delete', 'compact'].map(
      name => (calls.find(({ client }) => client === name)?.value as Done | undefined)?.revision,
    )
    return deletion !== undefined && deletion > 1 && deletion === compaction
  }),
  faults: { crash: 1 },
  properties: { revisionGrows, nothingMissed },
  overlap: 0,
})
