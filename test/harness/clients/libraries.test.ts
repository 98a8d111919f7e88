import { expect, test } from 'vitest'
import { grpc } from '../../../harness/clients/libraries/grpc.ts'
import { postgres } from '../../../harness/clients/libraries/postgres.ts'
import { redis } from '../../../harness/clients/libraries/redis.ts'
import { websocket } from '../../../harness/clients/libraries/websocket.ts'
import type { SystemDefinition } from '../../../harness/config/config.ts'
import { has } from '../../has.ts'
import { clusterOf, labelsOf, take } from '../system.ts'

/** What each client's call returned or threw, after each called once, in this order. */
const answersOf = async (definition: Omit<SystemDefinition, 'name'>, files = {}) => {
  const cluster = clusterOf(definition, files)
  await cluster.reset()
  for (const client of Object.keys(definition.clients ?? {})) await take(cluster, `client ${client}`)
  const { calls } = cluster.state()
  return Object.fromEntries(calls.map(({ client, value, error }) => [client, error ?? value ?? 'no answer']))
}

test.skipIf(!has('redis-server'))(
  'redis: a call by ioredis is over in its step, and its connection is closed',
  async () => {
    const cluster = clusterOf({
      nodes: { r: { command: ['redis-server', '--save', '', '--protected-mode', 'no'], listens: 6379 } },
      clients: {
        set: redis('r', client => client.set('x', '1')),
        get: { run: ({ r }) => redis(r!, client => client.get('x')), times: 2 },
        fail: ({ r }) => redis(r!, client => client.lpush('x', '2')),
        refused: ({ r }) => redis(r!, client => client.get('x'), { port: 1 }),
      },
    })
    await cluster.reset()
    for (const client of ['set', 'get', 'fail', 'refused']) await take(cluster, `client ${client}`)
    expect(cluster.state().calls.map(({ value, error, completedAt }) => [error ?? value, completedAt])).toEqual([
      ['OK', 1],
      ['1', 2],
      ['WRONGTYPE Operation against a key holding the wrong kind of value', 3],
      [expect.stringContaining('ECONNREFUSED'), 4],
    ])
    // Nothing is left of the connections, so a state can be marked.
    const mark = cluster.mark()
    expect(mark).toBeDefined()
    expect(labelsOf(cluster)).toContain('client get')
  },
)

const echo = `
const { createHash } = require('node:crypto')
const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
require('node:http').createServer().on('upgrade', (request, socket) => {
  if (request.url !== '/echo') return socket.end('HTTP/1.1 404 Not Found\\r\\n\\r\\n')
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + guid).digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n')
  socket.on('error', () => {})
  socket.on('data', frame => {
    if ((frame[0] & 15) === 8) return socket.end()
    const length = frame[1] & 127
    const text = Buffer.from(frame.subarray(6, 6 + length).map((byte, at) => byte ^ frame[2 + at % 4]))
    for (let times = 0; times < 2; times++) socket.write(Buffer.concat([Buffer.from([frame[0], length]), text]))
  })
}).listen(8080)
`

test('websocket: messages are received in their order, and a refused one says so', async () => {
  const answers = await answersOf(
    {
      nodes: { n: { command: ['node', 'echo.js'], listens: 8080 } },
      clients: {
        twice: ({ n }) =>
          websocket(
            n!,
            async socket => {
              socket.send('hello')
              return [await socket.receive(), await socket.receive()]
            },
            { port: 8080, path: '/echo' },
          ),
        nowhere: ({ n }) => websocket(n!, socket => socket.receive(), { port: 8080, path: '/' }),
      },
    },
    { 'echo.js': echo },
  )
  expect(answers).toEqual({ twice: ['hello', 'hello'], nowhere: 'n:8080 refused a WebSocket: HTTP/1.1 404 Not Found' })
})

const proto = `
  syntax = "proto3";
  package shop;
  message Order { string item = 1; uint32 count = 2; }
  service Shop { rpc Echo(Order) returns (Order); rpc Fail(Order) returns (Order); }
`
const shop = `
const server = require('node:http2').createServer()
server.on('stream', (stream, headers) => {
  const chunks = []
  stream.on('data', chunk => chunks.push(chunk))
  stream.on('end', () => {
    const fails = headers[':path'] === '/shop.Shop/Fail'
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(fails ? { 'grpc-status': '9', 'grpc-message': 'sold%20out' } : { 'grpc-status': '0' }))
    stream.end(fails ? undefined : Buffer.concat(chunks))
  })
})
server.listen(50051)
`

test('grpc: a call by the services of a .proto, over a connection that is kept for more', async () => {
  const answers = await answersOf(
    {
      nodes: { n: { command: ['node', 'shop.js'], listens: 50_051 } },
      clients: {
        order: ({ n }) =>
          grpc(
            n!,
            async call => [
              await call('shop.Shop/Echo', { item: 'a', count: 2 }),
              await call('shop.Shop/Echo', { item: 'b' }),
            ],
            { proto },
          ),
        fail: ({ n }) => grpc(n!, call => call('shop.Shop/Fail'), { proto }),
        unknown: ({ n }) => grpc(n!, call => call('shop.Shop/Other'), { proto }),
      },
    },
    { 'shop.js': shop },
  )
  expect(answers).toEqual({
    order: [{ item: 'a', count: 2 }, { item: 'b' }],
    fail: 'shop.Shop/Fail: status 9 sold out',
    unknown: 'no service of the .proto has shop.Shop/Other',
  })
})

test('a package that is not installed is named with the command that installs it', async () => {
  const cluster = clusterOf({
    nodes: { n: { command: ['sleep', '1000'] } },
    clients: { ask: ({ n }) => postgres(n!, client => client.query('select 1')) },
  })
  await cluster.reset()
  await expect(take(cluster, 'client ask')).rejects.toThrow('npm install --save-dev pg')
})

test.skipIf(!has('redis-server'))('redis observes each node where no node is said', async () => {
  const cluster = clusterOf({
    nodes: { r: { command: ['redis-server', '--save', '', '--protected-mode', 'no'], listens: 6379 } },
    state: redis(client => client.get('x')),
    clients: { set: redis('r', client => client.set('x', '7')) },
  })
  await cluster.reset()
  await take(cluster, 'client set')
  expect(cluster.state().nodes.map(({ state }) => state)).toEqual(['7'])
})
