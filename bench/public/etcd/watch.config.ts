import { always, defineSystem, type GlobalState } from 'lastnail'
import { compact, members, nothingMissed, put, remove, watched, watchUntilNow } from './etcd.ts'

/** One member, and clients that watch all its keys from the oldest revision that there is. */
export default defineSystem({
  name: 'etcd-watch',
  nodes: members(['n1']),
  clients: {
    put: { run: ({ n1 }, { ordinal }) => put(n1!, 'x', `${ordinal}`), times: 2 },
    delete: ({ n1 }) => remove(n1!, 'x'),
    compact: ({ n1 }) => compact(n1!),
    watch: {
      run: ({ n1 }) => watchUntilNow(n1!),
      times: 2,
    },
  },
  properties: {
    nothingMissed,
    // After it was said how far the watch has come, there is nothing from before.
    progressInOrder: always((s: GlobalState) =>
      watched(s).every(({ told }) => {
        let progress = 0
        return told.every(one => {
          if ('progress' in one) progress = one.progress
          return 'progress' in one || one.event > progress
        })
      }),
    ),
  },
  overlap: 0,
})
