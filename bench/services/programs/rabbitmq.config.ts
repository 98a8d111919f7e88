import { always, defineSystem, type NodeHandle } from 'lastnail'
import { talk } from './talk.ts'

/** What a server says to whoever speaks AMQP 0-9-1: the first of its frames. */
const greet = async (node: NodeHandle): Promise<number> =>
  (await talk(node, 5672, Buffer.from('AMQP\0\0\x09\x01', 'latin1'), heard => heard.length > 100)).length

/** One server of Erlang's virtual machine, with its own defaults. */
export default defineSystem({
  name: 'rabbitmq',
  nodes: {
    broker: {
      command: ['/usr/lib/rabbitmq/bin/rabbitmq-server'],
      env: {
        RABBITMQ_NODENAME: 'rabbit@localhost',
        RABBITMQ_MNESIA_BASE: '/tmp/rabbit',
        RABBITMQ_LOG_BASE: '/tmp/rabbit',
        HOME: '/tmp',
      },
      listens: 5672,
    },
  },
  stepLimit: 60_000,
  state: node => node.output().stdout.length,
  clients: { greet: { run: ({ broker }) => greet(broker!), times: 20 } },
  properties: { answers: always(({ nodes }) => nodes.length === 1) },
})
