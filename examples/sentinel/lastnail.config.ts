import { always, defineSystem, frames } from 'lastnail'
import { server } from '../redis/server.ts'
import { acknowledgedWritesSurvive, observe, write } from './cluster.ts'

const options = {
  // A promoted replica is promoted for good, and no other is to be.
  'repl-ping-replica-period': '10',
}

/** A sentinel keeps what it knows in its configuration, so it has a file of its own. */
const sentinel = (name: string) => {
  const lines = [
    'port 26379',
    `bind {{${name}.address}}`,
    'protected-mode no',
    'sentinel monitor shop {{primary.address}} 6379 2',
    'sentinel down-after-milliseconds shop 3000',
    'sentinel failover-timeout shop 10000',
  ]
  const script = `printf '%s\\n' "$@" > /tmp/sentinel.conf && exec redis-server /tmp/sentinel.conf --sentinel`
  return { command: ['sh', '-c', script, 'sh', ...lines], listens: 26379 }
}

/** A primary with a replica, and three sentinels that promote the replica when two of them miss the primary. */
export default defineSystem({
  name: 'sentinel',
  nodes: {
    primary: server('primary', options),
    replica: server('replica', { ...options, replicaof: '{{primary.address}} 6379' }),
    s1: sentinel('s1'),
    s2: sentinel('s2'),
    s3: sentinel('s3'),
  },
  state: observe,
  clients: { write: { run: write, times: 3 } },
  properties: { acknowledgedWritesSurvive: always(acknowledgedWritesSurvive) },
  faults: { partition: 1 },
  overlap: 0,
  clocks: '1000ms',
  messages: frames.resp(),
})
