import { always, defineSystem, type NodeHandle } from 'lastnail'

const add = async (node: NodeHandle) => (await node.http(8080, '/')).statusCode
const env = { PYTHONPATH: 'cache', REDIS: '{{redis.address}}' }

/** A worker of Celery, which takes tasks from Redis and has processes of its own. */
export default defineSystem({
  name: 'celery',
  nodes: {
    redis: { command: ['redis-server', '--protected-mode', 'no'], listens: 6379 },
    web: { command: ['python3', 'tasks.py'], env, listens: 8080 },
    worker: { command: ['python3', '-m', 'celery', '-A', 'tasks', 'worker', '--concurrency', '2'], env },
  },
  state: node => node.output().stdout.length,
  clients: { add: { run: ({ web }) => add(web!), times: 20 } },
  properties: { answers: always(({ nodes }) => nodes.length === 3) },
})
