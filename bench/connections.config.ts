import { join } from 'node:path'
import { always, defineSystem } from 'lastnail'

const program = join(import.meta.dirname, '../../bench/service/connections.cjs')

/** A client with sixteen connections to its server, of which it uses one at a time. */
export default defineSystem({
  name: 'connections',
  nodes: {
    client: { command: ['node', program], env: { PEER: '{{server.address}}' } },
    server: { command: ['node', program], listens: 7000 },
  },
  properties: { always: always(() => true) },
})
