import { always, defineSystem, type NodeHandle } from 'lastnail'
import { talk } from './talk.ts'

const ask = async (node: NodeHandle, command: string, end: string): Promise<string> =>
  (await talk(node, 11211, `${command}\r\n`, heard => heard.toString().endsWith(`${end}\r\n`))).toString()

/** One server with its own defaults, as a user of its own. */
export default defineSystem({
  name: 'memcached',
  nodes: { cache: { command: ['memcached', '-u', 'nobody'], listens: 11211 } },
  state: node => node.output().stderr,
  clients: {
    write: {
      run: ({ cache }, { ordinal }) => ask(cache!, `set key${ordinal % 3} 0 100 5\r\nvalue`, 'STORED'),
      times: 20,
    },
    stats: { run: ({ cache }) => ask(cache!, 'stats', 'END'), times: 10 },
    read: { run: ({ cache }) => ask(cache!, 'gets key0 key1 key2', 'END'), times: 20 },
  },
  properties: { answers: always(({ nodes }) => nodes.length === 1) },
})
