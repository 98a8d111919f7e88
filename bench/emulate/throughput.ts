/** The throughput of redis-benchmark through the router, and in turns through other proxies that one could use instead. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NetworkNamespace } from '../../linux/namespace.ts'
import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import { throughKernel } from '../forwarding-kernel.ts'
import { median, row, whole } from '../table.ts'
import { natively } from './natively.ts'

const rounds = 7
const requests = 200_000
const addresses = ['10.77.0.2', '10.77.1.2'] as const
const port = 6379
const proxyPort = 7000
const benchmark = (host: string, at: number) => [
  ...['redis-benchmark', '-h', host, '-p', String(at), '-c', '50', '-n', String(requests), '-t', 'get', '--csv'],
]
const server = ['redis-server', '--port', String(port), '--save', '', '--protected-mode', 'no']

const spread = (ratios: readonly number[]) => `(${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`

/** Requests a second, as it prints them. */
const rateIn = (csv: string) => Number(/^"GET","([\d.]+)"/m.exec(csv)?.[1])

/** @param pipe set on both directions; none if absent */
const throughPlane = (pipe: PipeSettings | null) =>
  natively(
    { a: { command: benchmark('{{b.address}}', port) }, b: { command: server } },
    undefined,
    async ({ cluster, output }) => {
      await cluster.set([
        { from: 'a', to: 'b', pipe },
        { from: 'b', to: 'a', pipe },
      ])
      await cluster.join('b')
      await sleep(500)
      await cluster.join('a')
      while (!output('a').includes('GET')) await sleep(100)
      return rateIn(output('a'))
    },
  )

/** @param proxy a program beside the server that listens on the proxy's port and forwards to the server's */
const throughForwardingKernel = async (proxy?: readonly string[]): Promise<number> => {
  const way = throughKernel(addresses, 'native')
  const start = (namespace: NetworkNamespace, [program, ...words]: readonly string[]): ChildProcess =>
    namespace.run(() => spawn(program!, words, { stdio: 'ignore' }))
  const children = [start(way.namespaces[1], server), ...(proxy ? [start(way.namespaces[1], proxy)] : [])]
  await sleep(700)
  const [program, ...words] = benchmark(addresses[1], proxy ? proxyPort : port)
  const { stdout } = way.namespaces[0].run(() => spawnSync(program!, words, { encoding: 'utf8' }))
  // A proxy with child processes ends them.
  for (const child of children) child.kill('SIGTERM')
  way.close()
  return rateIn(stdout)
}

const directory = mkdtempSync(join(tmpdir(), 'lastnail-bench-'))
const file = (name: string, content: string) => {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}
const haproxy = `
  defaults
    mode tcp
    timeout connect 5s
    timeout client 60s
    timeout server 60s
  listen redis
    bind :${proxyPort}
    server redis 127.0.0.1:${port}
`
const nginx = `
  load_module /usr/lib/nginx/modules/ngx_stream_module.so;
  daemon off;
  pid ${directory}/nginx.pid;
  error_log /dev/null;
  events {}
  stream { server { listen ${proxyPort}; proxy_pass 127.0.0.1:${port}; } }
`
const node = `
  const { connect, createServer } = require('node:net')
  createServer({ noDelay: true }, socket => {
    const onward = connect({ port: ${port}, host: '127.0.0.1', noDelay: true })
    socket.pipe(onward).pipe(socket)
    socket.on('error', () => onward.destroy())
    onward.on('error', () => socket.destroy())
  }).listen(${proxyPort})
`
const has = (program: string) => spawnSync('which', [program]).status === 0
const ways: Record<string, () => Promise<number>> = {
  'a forwarding kernel': () => throughForwardingKernel(),
  'emulate, nothing laid': () => throughPlane(null),
  'emulate, a pipe of 0 ms': () => throughPlane({ delayMs: 0 }),
  ...(has('haproxy') && { haproxy: () => throughForwardingKernel(['haproxy', '-f', file('haproxy.cfg', haproxy)]) }),
  ...(has('nginx') && { 'nginx stream': () => throughForwardingKernel(['nginx', '-c', file('nginx.conf', nginx)]) }),
  'a proxy of Node.js': () => throughForwardingKernel([process.execPath, file('proxy.cjs', node)]),
}
const figures = Object.keys(ways).map((name): [string, number[]] => [name, []])
for (let round = 0; round < rounds; round++) for (const [name, found] of figures) found.push(await ways[name]!())
rmSync(directory, { recursive: true })
const direct = figures[0]![1]
for (const [name, found] of figures) {
  row(`redis GET, 50 connections, through ${name}`, whole(median(found)), 'requests/s')
  // Of the same round: what else the machine does changes from minute to minute.
  const ratios = found.map((rate, round) => rate / direct[round]!)
  if (found !== direct) row('  to direct', median(ratios).toFixed(2), spread(ratios))
}
if (!has('haproxy') || !has('nginx'))
  console.log('haproxy and nginx (apt install haproxy libnginx-mod-stream) are left out where missing')
