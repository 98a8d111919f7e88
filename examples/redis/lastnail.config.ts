import { always, defineSystem, frames } from 'lastnail'
import { acknowledgedWritesSurvive, failover, observe, read, write } from './cluster.ts'
import { server } from './server.ts'

const replica = (name: string) => server(name, { replicaof: '{{primary.address}} 6379' })

export default defineSystem({
  name: 'redis',
  nodes: { primary: server('primary'), replica1: replica('replica1'), replica2: replica('replica2') },
  state: observe,
  clients: { write: { run: write, times: 4 }, read, failover },
  properties: { acknowledgedWritesSurvive: always(acknowledgedWritesSurvive) },
  faults: { reset: 1 },
  // A server does one command after the other, whether or not they come together.
  overlap: 0,
  messages: frames.resp(),
})
