import { always, defineSystem, type NodeHandle } from 'lastnail'

const upstream = { command: ['node', 'upstream.cjs'], listens: 8080 }
const get = async (node: NodeHandle) => (await (await node.http(80, '/')).body).text()

const settings = `
global
  stats socket /tmp/stats
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend all
  bind *:80
  default_backend servers
backend servers
  balance leastconn
  server u1 {{u1.address}}:8080 check
  server u2 {{u2.address}}:8080 check
`

/** A proxy of two servers that it looks after every two seconds, and has as many threads as there are CPUs. */
export default defineSystem({
  name: 'haproxy',
  nodes: {
    proxy: {
      command: ['sh', '-c', 'echo "$SETTINGS" > conf; exec haproxy -W -f conf'],
      env: { SETTINGS: settings },
      listens: 80,
    },
    u1: upstream,
    u2: upstream,
  },
  state: node => node.output().stdout,
  clients: {
    a: { run: ({ proxy }) => get(proxy!), times: 20 },
    b: { run: ({ proxy }) => get(proxy!), times: 20 },
  },
  properties: { answers: always(({ nodes }) => nodes.length === 3) },
})
