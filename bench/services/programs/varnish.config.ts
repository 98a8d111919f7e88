import { always, defineSystem, type NodeHandle } from 'lastnail'

const get = async (node: NodeHandle, path: string) => (await (await node.http(80, path)).body).text()

/** A cache of a web server: its parent process watches the one that answers, which has a pool of threads. */
export default defineSystem({
  name: 'varnish',
  nodes: {
    cache: {
      command: ['varnishd', '-F', '-a', ':80', '-b', '{{web.address}}:8080', '-n', '/tmp/varnish'],
      listens: 80,
    },
    web: { command: ['node', 'upstream.cjs'], listens: 8080 },
  },
  state: node => node.output().stdout,
  clients: {
    a: { run: ({ cache }, { ordinal }) => get(cache!, `/${ordinal % 3}`), times: 20 },
    b: { run: ({ cache }) => get(cache!, '/0'), times: 20 },
  },
  properties: { answers: always(({ nodes }) => nodes.length === 2) },
})
