import { expect, test } from 'vitest'
import { jsonLines } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

/** Listens, and counts its starts on its disk. */
const server = `
const fs = require('fs')
const starts = fs.existsSync('starts') ? Number(fs.readFileSync('starts')) + 1 : 1
fs.writeFileSync('starts', String(starts))
console.log('start', starts)
require('net').createServer(socket => {
  socket.on('data', data => console.log('got', String(data))).on('error', error => console.log('server', error.code))
}).listen(7000)
`

/** Connects, and says a word each second. */
const client = `
const socket = require('net').connect(7000, 'server', () => {
  let count = 0
  setInterval(() => socket.write('word' + ++count), 1000)
})
socket.on('error', error => console.log(error.code)).on('close', () => process.exit())
`

const talk = (faults: object, disk: 'kept' | 'lost' = 'kept') =>
  clusterOf(
    { nodes: { server: { command: ['node', 'server.js'], disk }, client: { command: ['node', 'client.js'] } }, faults },
    { 'server.js': server, 'client.js': client },
  )

const connected = async (cluster: ReturnType<typeof talk>) => {
  expect(await cluster.reset()).toEqual([])
  await take(cluster, 'client→server #1 open :7000')
  await take(cluster, 'server→client #1 accept :7000')
  await take(cluster, 'client timer +1000ms')
}

const resets = (cluster: ReturnType<typeof talk>) => labelsOf(cluster).filter(label => label.startsWith('reset'))

test('a reset that the peer sees: its connection is aborted; the disk is kept', async () => {
  const cluster = talk({ reset: 1 })
  await connected(cluster)
  expect(resets(cluster)).toEqual([
    'reset client→server connection 1 :7000',
    'reset server',
    'reset server silently',
    'reset client',
    'reset client silently',
  ])
  await take(cluster, 'reset server')
  expect(stdoutOf(cluster, 'server')).toEqual(['start 2'])
  expect(resets(cluster)).toEqual([])
  await take(cluster, labelsOf(cluster).find(label => label.includes('abort'))!)
  expect(stdoutOf(cluster, 'client')).toEqual(['ECONNRESET'])
})

test.each([
  ['connections', ['reset client→server connection 1 :7000']],
  ['nodes', ['reset server', 'reset server silently', 'reset client', 'reset client silently']],
] as const)('resets may befall only %s', async (only, labels) => {
  const cluster = talk({ reset: { times: 1, only } })
  await connected(cluster)
  expect(resets(cluster)).toEqual(labels)
})

test('a reset that the peer does not see shows when it sends; the disk is lost where the configuration says so', async () => {
  const cluster = talk({ reset: 1 }, 'lost')
  await connected(cluster)
  await take(cluster, 'reset server silently')
  expect(stdoutOf(cluster, 'server')).toEqual(['start 1'])
  expect(labelsOf(cluster)).toEqual(['client→server #2 5 bytes :7000 "word1"', 'client timer +1000ms'])
  await take(cluster, 'client→server #2 5 bytes :7000 "word1"')
  await take(cluster, labelsOf(cluster).find(label => label.includes('abort'))!)
  expect(stdoutOf(cluster, 'client')).toEqual(['ECONNRESET'])
})

test('a silent crash tells nobody: the peer learns of it from the next life, or when its kernel gives up', async () => {
  const cluster = talk({ silent: 1 })
  await connected(cluster)
  await take(cluster, 'crash server silently')
  // Nothing is in flight to the client, and what it said finds nobody. Its kernel would give up after 15 minutes.
  expect(labelsOf(cluster)).toEqual(['client timer +1000ms', 'restart server'])
  await take(cluster, 'client timer +1000ms')
  expect(labelsOf(cluster)).toEqual(['client timer +1000ms', 'restart server'])
  await take(cluster, 'restart server')
  expect(stdoutOf(cluster, 'server')).toEqual(['start 2'])
  await take(cluster, 'client→server #2 5 bytes :7000 "word1"')
  await take(cluster, labelsOf(cluster).find(label => label.includes('abort'))!)
  expect(stdoutOf(cluster, 'client')).toEqual(['ECONNRESET'])
})

test('a connection that is reset ends at both sides', async () => {
  const cluster = talk({ reset: 1 })
  await connected(cluster)
  await take(cluster, resets(cluster)[0]!)
  expect(stdoutOf(cluster, 'client')).toEqual(['ECONNRESET'])
  expect(stdoutOf(cluster, 'server')).toEqual(['start 1', 'server ECONNRESET'])
})

test('a partition holds back what is in flight, in one direction or both, until it is healed', async () => {
  const cluster = talk({ partition: 1 })
  await connected(cluster)
  const cuts = labelsOf(cluster).filter(label => /^(partition|cut)/.test(label))
  expect(cuts).toEqual([
    'partition server | client',
    'partition client | server',
    'cut server→client',
    'cut client→server',
  ])
  await take(cluster, 'cut client→server')
  expect(labelsOf(cluster)).toEqual(['client timer +1000ms', 'heal'])
  await take(cluster, 'heal')
  expect(labelsOf(cluster)).toEqual(['client→server #2 5 bytes :7000 "word1"', 'client timer +1000ms'])
  await take(cluster, 'client→server #2 5 bytes :7000 "word1"')
  expect(stdoutOf(cluster, 'server')).toEqual(['start 1', 'got word1'])
})

test('a partition with a least length is healed only after everything due within that length', async () => {
  const cluster = talk({ partition: { times: 1, atLeast: '2500ms' } })
  await connected(cluster)
  await take(cluster, 'cut client→server')
  expect(labelsOf(cluster)).toEqual(['client timer +1000ms'])
  await take(cluster, 'client timer +1000ms')
  expect(labelsOf(cluster)).toEqual(['client timer +1000ms'])
  await take(cluster, 'client timer +1000ms')
  expect(labelsOf(cluster)).toEqual(['client timer +1000ms', 'heal'])
  await take(cluster, 'heal')
  expect(labelsOf(cluster)[0]).toMatch(/^client→server #2 .*word1/)
})

/** Shows its time each so many milliseconds, and whenever it is asked. */
const watch = `
const show = () => console.log(JSON.stringify({ at: Date.now() - ${Date.UTC(2026, 0, 1)} }))
setInterval(show, Number(process.argv[2]))
const socket = require('dgram').createSocket('udp4').on('message', show)
socket.bind(4000)
setTimeout(() => socket.send('?', 4000, process.argv[3]), 10)
`

const watches = (clocks: 'together' | '50ms') =>
  clusterOf(
    {
      nodes: { a: { command: ['node', 'watch.js', '100', 'b'] }, b: { command: ['node', 'watch.js', '170', 'a'] } },
      state: jsonLines('stdout'),
      overlap: 0,
      clocks,
    },
    { 'watch.js': watch },
  )

const times = (cluster: ReturnType<typeof watches>) =>
  cluster.state().nodes.map(({ state }) => (state as { at: number } | undefined)?.at)

test('one clock for all: the earliest timer of all fires, and all see its instant', async () => {
  const cluster = watches('together')
  await cluster.reset()
  expect(labelsOf(cluster)).toEqual(['a timer +10ms', 'b timer +10ms'])
  await take(cluster, 'a timer +10ms')
  expect(labelsOf(cluster).filter(label => label.includes('timer'))).toEqual(['b timer +0ms'])
  await take(cluster, 'b timer +0ms')
  await take(cluster, 'a timer +90ms')
  await take(cluster, 'a→b #1 1 byte :4000 "?"')
  expect(times(cluster)).toEqual([100, 100])
})

test('clocks that may differ by 50 ms at most', async () => {
  const cluster = watches('50ms')
  await cluster.reset()
  await take(cluster, 'a timer +10ms')
  // 90 ms more would leave b, which has a timer at 10 ms, behind.
  expect(labelsOf(cluster).filter(label => label.includes('timer'))).toEqual(['b timer +10ms'])
  await take(cluster, 'b timer +10ms')
  await take(cluster, 'a timer +90ms')
  await take(cluster, 'a→b #1 1 byte :4000 "?"')
  expect(times(cluster)).toEqual([100, 50])
})

test('an execution in which a packet was damaged does not count', async () => {
  const send = `
import socket
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
raw.sendto(bytes.fromhex('0fa00fa0000cdead') + b'text', ('10.77.0.3', 0))
import time; time.sleep(1e9)`
  const cluster = clusterOf({
    nodes: { a: { command: ['/usr/bin/python3', '-c', send] }, b: { command: ['sleep', 'infinity'] } },
  })
  await expect(cluster.reset()).rejects.toThrow('at step 0 (the start): the network was not faithful (corrupt: 1)')
})

test('faults apply only to the nodes that the configuration names', async () => {
  const of = ['client']
  const once = { times: 1, of }
  const cluster = talk({ crash: once, silent: once, reset: once, partition: once })
  await connected(cluster)
  const faults = labelsOf(cluster).filter(label => /^(crash|reset|partition|cut) /.test(label))
  expect(faults).toEqual([
    'reset client→server connection 1 :7000',
    'reset client',
    'reset client silently',
    'crash client',
    'crash client silently',
    'partition client | server',
    'cut server→client',
    'cut client→server',
  ])
  await take(cluster, 'crash client')
  expect(labelsOf(cluster).filter(label => label.startsWith('crash'))).toEqual([])
})

const leaves = (exits: 'crash' | 'allowed' | 'restart') =>
  clusterOf(
    { nodes: { n: { command: ['node', 'leaves.js'], exits } } },
    { 'leaves.js': "console.log('up'); setTimeout(() => process.exit(3), 50)" },
  )

test('the configuration says what it means if a process ends by itself', async () => {
  const crash = leaves('crash')
  await crash.reset()
  expect((await take(crash, 'n timer +50ms')).findings).toMatchObject([
    { kind: 'crash', message: expect.stringContaining('code 3') },
  ])

  const allowed = leaves('allowed')
  await allowed.reset()
  expect((await take(allowed, 'n timer +50ms')).findings).toEqual([])
  expect(labelsOf(allowed)).toEqual([])
  expect(allowed.state().node('n').alive).toBe(false)
})

test('a node with a supervisor starts again, again and again, also in executions to come', async () => {
  const cluster = leaves('restart')
  for (const _ of [1, 2, 3]) {
    expect(await cluster.reset()).toEqual([])
    for (const __ of [1, 2]) {
      expect((await take(cluster, 'n timer +50ms')).findings).toEqual([])
      expect(labelsOf(cluster)).toEqual(['restart n'])
      expect((await take(cluster, 'restart n')).findings).toEqual([])
      expect(stdoutOf(cluster, 'n')).toEqual(['up'])
    }
  }
})
