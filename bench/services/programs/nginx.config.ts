import { join } from 'node:path'
import { always, defineSystem, type NodeHandle } from 'lastnail'

const upstream = { command: ['node', 'upstream.cjs'], listens: 8080 }
const get = async (node: NodeHandle, path: string) => (await (await node.http(80, path)).body).text()

/** A proxy of several processes before two servers. */
export default defineSystem({
  name: 'nginx',
  nodes: {
    nginx: {
      command: ['nginx', '-c', join(import.meta.dirname, 'nginx.conf'), '-g', 'daemon off;'],
      listens: 80,
    },
    u1: upstream,
    u2: upstream,
  },
  state: node => node.output().stdout,
  clients: {
    a: { run: ({ nginx }) => get(nginx!, '/'), times: 20 },
    b: { run: ({ nginx }) => get(nginx!, '/kept'), times: 20 },
  },
  properties: { answers: always(({ nodes }) => nodes.length === 3) },
})
