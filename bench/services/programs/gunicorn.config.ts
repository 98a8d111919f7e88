import { always, defineSystem, type NodeHandle } from 'lastnail'

const get = async (node: NodeHandle) => (await (await node.http(8000, '/')).body).text()

/** A Python service of three processes with two threads each, which have files in common. */
export default defineSystem({
  name: 'gunicorn',
  nodes: {
    web: {
      command: ['gunicorn', '-b', '0.0.0.0:8000', '-w', '3', '--threads', '2', 'served:application'],
      listens: 8000,
    },
  },
  state: node => node.output().stderr,
  clients: {
    a: { run: ({ web }) => get(web!), times: 20 },
    b: { run: ({ web }) => get(web!), times: 20 },
  },
  properties: { answers: always(({ nodes }) => nodes.length === 1) },
})
