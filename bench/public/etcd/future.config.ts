import { always, defineSystem, frames, type GlobalState } from 'lastnail'
import { members, put, watch, watched } from './etcd.ts'

/** A revision that is not there yet when the watch begins. */
const future = 8

/** Three members, of which the third is cut off for so long that it gets a snapshot, while a client of it watches what is yet to come. */
export default defineSystem({
  name: 'etcd-future',
  nodes: members(
    ['n1', 'n2', 'n3'],
    [
      '--snapshot-count=1',
      '--experimental-snapshot-catchup-entries=1',
      '--heartbeat-interval=500',
      '--election-timeout=2500',
    ],
  ),
  messages: { 2380: frames.http1() },
  clients: {
    put: { run: ({ n1 }, { ordinal }) => put(n1!, 'x', `${ordinal}`), times: 9 },
    watch: ({ n3 }) => watch(n3!, future, future),
  },
  // Connections of a member are given up when nothing came for five seconds.
  faults: { partition: { times: 1, atLeast: '8s' } },
  properties: {
    nothingBefore: always((s: GlobalState) =>
      watched(s).every(({ told }) => told.every(one => !('event' in one) || one.event >= future)),
    ),
  },
  overlap: 0,
})
