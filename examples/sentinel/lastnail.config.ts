import { always, defineSystem, frames } from 'lastnail'
import { server } from '../redis/server.ts'
import { acknowledgedWritesSurvive, observe, write } from './cluster.ts'

/** A primary with a replica, and a sentinel that promotes the replica when it misses the primary. */
export default defineSystem({
  name: 'sentinel',
  nodes: {
    primary: server('primary'),
    replica: server('replica', { replicaof: '{{primary.address}} 6379' }),
    // It writes what it learns to its configuration.
    sentinel: { command: ['redis-server', 'config/sentinel.conf', '--sentinel'], listens: 26379 },
  },
  state: observe,
  clients: { write: { run: write, times: 3 } },
  properties: { acknowledgedWritesSurvive: always(acknowledgedWritesSurvive) },
  faults: { crash: 1 },
  overlap: 0,
  messages: frames.resp(),
})
