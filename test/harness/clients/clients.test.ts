import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { situationOf } from '../../../harness/clients/situation.ts'
import type { NodeView } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, take } from '../system.ts'

const greeter = `
require('net').createServer(socket => socket.end('hello\\n')).listen(4000)
`
const greeting = { nodes: { n: { command: ['node', 'greeter.js'], listens: 4000 } } }

test('a call is completed with what it returned, or threw, or with nothing', async () => {
  const cluster = clusterOf(
    {
      ...greeting,
      clients: {
        hear: async ({ n }) => String((await once(n!.tcp(4000), 'data'))[0]),
        listen: async ({ n }) => {
          await once(n!.tcp(4000), 'data')
        },
        fail: async () => {
          throw new Error('no key')
        },
      },
    },
    { 'greeter.js': greeter },
  )
  await cluster.reset()
  for (const label of labelsOf(cluster)) await take(cluster, label)
  expect(cluster.state().calls).toEqual([
    { client: 'hear', ordinal: 1, invokedAt: 1, completedAt: 1, value: 'hello\n', error: undefined },
    { client: 'listen', ordinal: 1, invokedAt: 2, completedAt: 2, value: undefined, error: undefined },
    { client: 'fail', ordinal: 1, invokedAt: 3, completedAt: 3, value: undefined, error: 'no key' },
  ])
})

test('a repeated client has its number of calls, each a choice of its own; one without an answer is pending', async () => {
  const cluster = clusterOf(
    {
      ...greeting,
      clients: { wait: { run: async (_, { ordinal }) => (ordinal === 1 ? new Promise(() => {}) : ordinal), times: 2 } },
    },
    { 'greeter.js': greeter },
  )
  await cluster.reset()
  while (labelsOf(cluster).length > 0) await take(cluster, labelsOf(cluster)[0]!)
  expect(cluster.state().calls.map(({ ordinal, completedAt, value }) => [ordinal, completedAt, value])).toEqual([
    [1, undefined, undefined],
    [2, 2, 2],
  ])
})

test('a client that calls until it has returned may call again after a call that failed', async () => {
  const server = `
    let isLeader = false
    setTimeout(() => { isLeader = true }, 1000)
    require('http').createServer((_, response) => {
      response.statusCode = isLeader ? 200 : 503
      response.end()
    }).listen(8080)`
  const put = (ordinal: number) => {
    if (ordinal === 1) throw new Error('no key')
  }
  const cluster = clusterOf({
    nodes: { n: { command: ['node', '-e', server], listens: 8080 } },
    clients: {
      put: {
        run: async ({ n }, { ordinal }) => {
          put(ordinal)
          return (await n!.http(8080, '/')).statusCode
        },
        times: 1,
        until: 'returned',
      },
    },
  })
  await cluster.reset()
  // It throws, then it is refused.
  expect((await take(cluster, 'client put')).calls).toEqual([{ begun: 1, failed: true }])
  expect((await take(cluster, 'client put')).calls).toEqual([{ begun: 2, failed: true }])
  await take(cluster, 'n timer +1000ms')
  expect((await take(cluster, 'client put')).calls).toEqual([{ begun: 4, failed: false }])
  expect(labelsOf(cluster)).not.toContain('client put')
  expect(cluster.state().calls.map(({ ordinal, value, error }) => [ordinal, value, error])).toEqual([
    [1, undefined, 'no key'],
    [2, 503, undefined],
    [3, 200, undefined],
  ])
})

test('where calls may come to the same, nodes look the same apart from numbers', async () => {
  const node = (state: unknown, alive = true): NodeView => ({
    ...{ name: 'n', alive, state, output: { stdout: '', stderr: '' } },
    past: () => [],
  })
  const same = (one: NodeView, other: NodeView) => situationOf({ nodes: [one] }) === situationOf({ nodes: [other] })
  expect(same(node({ role: 'leader', term: 1, log: [1] }), node({ role: 'leader', term: 22, log: [3, 4] }))).toBe(true)
  expect(same(node({ role: 'leader', term: 1 }), node({ role: 'follower', term: 1 }))).toBe(false)
  expect(same(node({ leader: 'n1' }), node({ leader: 'n2' }))).toBe(false)
  expect(same(node({ role: 'leader' }), node({ role: 'leader' }, false))).toBe(false)
})

test('an idle connection stays open, however long this machine takes', async () => {
  const server = `
    let connections = 0
    const server = require('http').createServer((_, response) => response.end(String(connections)))
    server.on('connection', () => { connections += 1 })
    server.keepAliveTimeout = 3000
    server.listen(8080)`
  const cluster = clusterOf({
    nodes: { n: { command: ['node', '-e', server], listens: 8080 } },
    clients: { ask: { run: async ({ n }) => (await n!.http(8080, '/')).body.text(), times: 2 } },
  })
  await cluster.reset()
  await take(cluster, 'client ask')
  // By its own default the HTTP client would close it after one second, two before the server's hint.
  await sleep(2000)
  await take(cluster, 'client ask')
  expect(cluster.state().calls.map(({ value }) => value)).toEqual(['1', '1'])
})

test('a node that ends while it is looked at has crashed: its observer is not to blame', async () => {
  const cluster = clusterOf(
    {
      nodes: { n: { command: ['node', 'fragile.js'], listens: 4000 } },
      state: async n => String((await once(n.tcp(4000), 'data'))[0]),
      clients: { speak: async ({ n }) => String((await once(n!.tcp(4000), 'data'))[0]) },
    },
    {
      'fragile.js': `
let connections = 0
require('net').createServer(socket => {
  if (++connections === 3) throw new Error('three are too many')
  socket.end('hello')
}).listen(4000)`,
    },
  )
  await cluster.reset()
  const { findings } = await take(cluster, 'client speak')
  expect(findings).toEqual([expect.objectContaining({ kind: 'crash', node: 'n' })])
  expect(findings[0]!.message).toMatch(/^n ended with code 1: Error: three are too many$/)
})
