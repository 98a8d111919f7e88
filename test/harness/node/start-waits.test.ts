import { expect, test } from 'vitest'
import type { Cluster } from '../../../harness/cluster.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

/** Answers what it is sent, with the number of the connection. */
const database = `
let number = 0
require('node:net').createServer(socket => {
  const mine = ++number
  console.log('connected ' + mine)
  socket.on('data', data => socket.write('ok ' + mine + ' ' + data))
}).listen(6379)
`
/** Asks the database something, and listens only then. A request makes it ask once more. */
const service = `
const socket = require('node:net').connect(6379, 'db', () => socket.write('hello'))
socket.setTimeout(10_000, () => { console.log('no database'); process.exit(3) })
socket.once('data', data => {
  console.log(String(data), Math.random())
  socket.setTimeout(0)
  socket.on('data', data => console.log(String(data)))
  require('node:http').createServer((asked, response) => { socket.write(asked.url); response.end() }).listen(8080)
})
`
const files = { 'db.js': database, 'service.js': service }
const db = { command: ['node', 'db.js'], listens: 6379 }
const a = { command: ['node', 'service.js'], listens: 8080 }
const call = async ({ a: node }: Record<string, import('../../../harness/config/config.ts').NodeHandle>) =>
  (await node!.http(8080, '/one')).statusCode

const did = [
  'a→db #1 open :6379',
  'db→a #1 accept :6379',
  'a→db #2 5 bytes :6379 "hello"',
  'db→a #2 10 bytes :6379 "ok 1 hello"',
]

test.each([
  ['after', { db, a }],
  ['before', { a, db }],
])('a service that listens once its database has answered starts, declared %s it', async (_, nodes) => {
  const cluster = clusterOf({ nodes }, files)
  expect(await cluster.reset()).toEqual([])
  expect(cluster.details.started).toEqual(did)
  expect(stdoutOf(cluster, 'a')[0]).toMatch(/^ok 1 hello 0\./)
})

/** Everything that is seen of an execution: its start, and a call. */
const seen = async (cluster: Cluster, variant = 0) => {
  expect(await cluster.reset(variant)).toEqual([])
  const { durationUs: _, ...start } = cluster.details
  const at = () => [labelsOf(cluster), cluster.timers, cluster.clocks, cluster.state().nodes.map(node => node.output)]
  const first = at()
  await take(cluster, 'client ann')
  await take(cluster, 'a→db #3 4 bytes :6379 "/one"')
  return JSON.stringify([start, first, at()])
}

test('such a start is gone back to as it is, for each variant, and is the same on new processes', async () => {
  const definition = { nodes: { db, a }, clients: { ann: call } }
  const cluster = clusterOf(definition, files)
  const [first, other] = [await seen(cluster), await seen(cluster, 1)]
  expect(first).not.toBe(other)
  for (let again = 0; again < 3; again++) {
    expect(await seen(cluster)).toBe(first)
    expect(await seen(cluster, 1)).toBe(other)
  }
  expect(cluster.starts).toBe(4)
  await cluster.audit()
  expect(cluster.notes()).toEqual([])
  expect(await seen(clusterOf(definition, files, { rewind: false }))).toBe(first)
})

test('a start waits for a database that sleeps before it listens, and for one that answers late', async () => {
  const late = `setTimeout(() => { ${database} }, 2000)`
  const slow = database.replace('socket.write', 'setTimeout(() => socket.write').replace('+ data))', '+ data), 3000))')
  for (const [source, timers] of [
    [late, []],
    [slow, ['db timer +3000ms']],
  ] as const) {
    const cluster = clusterOf({ nodes: { a, db } }, { ...files, 'db.js': source })
    expect(await cluster.reset()).toEqual([])
    expect(cluster.details.started).toEqual(did.toSpliced(3, 0, ...timers))
  }
})

test('who waits for whom is named when a start cannot end', async () => {
  const silent = 'require("node:net").createServer(() => undefined).listen(6379)'
  const waiting = service.replace('socket.setTimeout(10_000', 'void (0')
  const cluster = clusterOf({ nodes: { db, a } }, { 'db.js': silent, 'service.js': waiting })
  const message = expect.stringContaining('a waits for db:6379 and has not opened port 8080: it listens on no TCP port')
  expect(await cluster.reset()).toMatchObject([{ kind: 'crash', node: 'a', message }])
})

test('a node with `after` is started when those that it names are ready, whoever waits meanwhile', async () => {
  // It ends where its predecessor does not listen yet.
  const last = `
    require('node:net').connect(8080, 'a').on('connect', () => console.log('found')).on('error', () => process.exit(4))
    setInterval(() => {}, 1e8)`
  const cluster = clusterOf(
    { nodes: { a, last: { command: ['node', 'last.js'], after: ['a'] }, db } },
    { ...files, 'last.js': last },
  )
  expect(await cluster.reset()).toEqual([])
  expect(cluster.details.started).toEqual(did)
  await take(cluster, 'last→a #1 open :8080')
  await take(cluster, 'a→last #1 accept :8080')
  expect(stdoutOf(cluster, 'last')).toEqual(['found'])
  expect(() => clusterOf({ nodes: { a: { ...a, after: ['b'] }, b: { ...db, after: ['a'] } } })).toThrow(
    'nodes.a.after: expected no circle, but b waits for a',
  )
  expect(() => clusterOf({ nodes: { a: { ...a, after: ['bd'] }, db } })).toThrow('nodes.a.after: there is no node bd')
})

test('a health check that makes a node ask another one is answered', async () => {
  const asks = `
    require('node:http').createServer((asked, response) => {
      const socket = require('node:net').connect(6379, 'db', () => socket.write('well?'))
      socket.on('data', data => { console.log(String(data)); response.end(); socket.destroy() })
    }).listen(8080)`
  const check =
    "require('node:http').get('http://127.0.0.1:8080', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))"
  const nodes = { db, a: { command: ['node', 'asks.js'], listens: 8080, healthy: ['node', '-e', check] } }
  const cluster = clusterOf({ nodes }, { ...files, 'asks.js': asks })
  for (let again = 0; again < 2; again++) {
    expect(await cluster.reset()).toEqual([])
    expect(cluster.details.started).toEqual([
      'a→db #1 open :6379',
      'db→a #1 accept :6379',
      'a→db #2 5 bytes :6379 "well?"',
      'db→a #2 10 bytes :6379 "ok 1 well?"',
    ])
    expect(stdoutOf(cluster, 'a')).toEqual(['ok 1 well?'])
  }
  expect(cluster.starts).toBe(2)
})
