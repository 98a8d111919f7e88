import { always, defineSystem, type NodeHandle } from 'lastnail'
import { talk } from './talk.ts'

/** Sends commands at once, and reads until all are answered. */
const ask = async (node: NodeHandle, ...commands: readonly string[]): Promise<string> => {
  const isOver = (heard: Buffer) => heard.toString().endsWith('+OK\r\n')
  return (await talk(node, 6379, `${commands.join('\r\n')}\r\nQUIT\r\n`, isOver)).toString()
}

const server = (...more: readonly string[]) => ({
  command: ['redis-server', '--protected-mode', 'no', ...more],
  listens: 6379,
})

/** A primary and a replica, with their own defaults but that others may speak to them. */
export default defineSystem({
  name: 'redis',
  nodes: { primary: server(), replica: server('--replicaof', '{{primary.address}} 6379') },
  state: node => ask(node, 'ROLE', 'DBSIZE'),
  clients: {
    write: {
      run: ({ primary }, { ordinal }) =>
        ask(primary!, `SET key${ordinal} value`, 'INCR writes', 'LPUSH list a b c', 'EXPIRE list 100'),
      times: 20,
    },
    read: { run: ({ replica }) => ask(replica!, 'GET writes', 'LRANGE list 0 -1', 'KEYS *'), times: 20 },
    save: ({ primary }) => ask(primary!, 'BGSAVE'),
  },
  // Servers find each other first, and are asked all along.
  weights: { client: 0.3, timer: 2 },
  properties: { answers: always(({ nodes }) => nodes.length === 2) },
})
