import { always, defineSystem, type NodeHandle } from 'lastnail'

const add = async (node: NodeHandle) => (await (await node.http(8080, '/')).body).text()
const worker = { command: ['node', 'bullmq.cjs', 'worker', '{{redis.address}}'] }

/** A queue on Redis, from which two workers take jobs. */
export default defineSystem({
  name: 'bullmq',
  nodes: {
    redis: { command: ['redis-server', '--protected-mode', 'no'], listens: 6379 },
    web: { command: ['node', 'bullmq.cjs', 'web', '{{redis.address}}'], listens: 8080 },
    w1: worker,
    w2: worker,
  },
  state: node => node.output().stdout.length,
  clients: { add: { run: ({ web }) => add(web!), times: 20 } },
  properties: { answers: always(({ nodes }) => nodes.length === 4) },
})
