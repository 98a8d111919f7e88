import { once } from 'node:events'
import { expect, test } from 'vitest'
import { DidNotHappen } from '../../../harness/clients/history.ts'
import { clusterOf, take } from '../system.ts'

const greeter = `
require('net').createServer(socket => socket.end('hello\\n')).listen(4000)
`
const greeting = { nodes: { n: { command: ['node', 'greeter.js'], listens: 4000 } } }

test('operations are recorded with what became of them, and forgotten by a reset', async () => {
  const cluster = clusterOf(
    {
      ...greeting,
      clients: {
        ann: async ({ n }, { operation }) => {
          const heard = await operation({ op: 'read', key: 'x' }, async () => once(n!.tcp(4000), 'data').then(String))
          await operation({ op: 'write', key: 'x', value: { heard } }, async () => {})
          const refuse = () => Promise.reject(new DidNotHappen('no leader'))
          await operation({ op: 'write', value: 2 }, refuse).catch(() => {})
          const lose = () => Promise.reject(new Error('connection lost'))
          await operation({ op: 'write', value: 3 }, lose).catch(() => {})
          return heard
        },
        bob: (_, { operation }) => operation({ op: 'read' }, () => new Promise(() => {})),
      },
    },
    { 'greeter.js': greeter },
  )
  const expected = [
    { op: 'read', key: 'x', outcome: 'ok', result: 'hello\n', invoked: 0, returned: 1, returnedAt: 1 },
    { op: 'write', key: 'x', value: { heard: 'hello\n' }, outcome: 'ok', invoked: 2, returned: 3, returnedAt: 1 },
    { op: 'write', value: 2, outcome: 'failed', invoked: 4, returned: 5, returnedAt: 1 },
    { op: 'write', value: 3, outcome: 'unknown', invoked: 6 },
  ].map(operation => ({ process: 'ann', invokedAt: 1, ...operation }))
  for (const _ of ['once', 'again']) {
    await cluster.reset()
    expect(cluster.state().history).toEqual([])
    await take(cluster, 'client ann')
    const { history, calls } = cluster.state()
    expect(calls[0]).toMatchObject({ value: 'hello\n', error: undefined })
    expect(history).toEqual(expected)
    await take(cluster, 'client bob')
    expect(history).toEqual(expected)
    const pending = { process: 'bob', op: 'read', outcome: 'unknown', invoked: 7, invokedAt: 2 }
    expect(cluster.state().history).toEqual([...expected, pending])
  }
})

test('a history in which nothing happened is the same', async () => {
  const cluster = clusterOf(
    {
      ...greeting,
      clients: {
        ann: (_, { operation }) => operation({ op: 'read' }, () => new Promise(() => {})),
        idle: () => new Promise(() => {}),
      },
    },
    { 'greeter.js': greeter },
  )
  await cluster.reset()
  await take(cluster, 'client ann')
  const { history } = cluster.state()
  await take(cluster, 'client idle')
  expect(cluster.state().history).toBe(history)
})
