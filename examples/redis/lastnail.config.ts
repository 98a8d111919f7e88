import { always, defineSystem, frames } from 'lastnail'
import { acknowledgedWritesSurvive, failover, observe, read, write } from './cluster.ts'

const options = {
  'protected-mode': 'no',
  // Nothing on disk: the first copy goes from memory to memory, and at once.
  save: '',
  'repl-diskless-sync-delay': '0',
  'repl-diskless-load': 'on-empty-db',
  // The server's own timer ticks once a second instead of ten times: each tick is a step.
  hz: '1',
  'dynamic-hz': 'no',
}

const server = (name: string, more: Readonly<Record<string, string>> = {}) => {
  const all = Object.entries({ bind: `{{${name}.address}}`, ...options, ...more })
  return { command: ['redis-server', ...all.flatMap(([option, value]) => [`--${option}`, value])], listens: 6379 }
}

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
