import { expect, test } from 'vitest'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

const writer = `
const fs = require('fs')
console.log('has', fs.readdirSync('/srv/jobs').join(' '))
setTimeout(() => {
  fs.writeFileSync('/srv/jobs/one', 'a job')
  console.log(fs.statSync('/srv/jobs/one').mtime.toISOString())
}, 1000)
setInterval(() => {}, 60_000)
`
const reader = `
const fs = require('fs')
setTimeout(() => {
  console.log(String(fs.readFileSync('/data/in/one')), fs.statSync('/data/in/one').mtime.toISOString())
  try { fs.rmSync('/data/in/one') } catch ({ code }) { console.log(code) }
}, 3000)
setInterval(() => {}, 60_000)
`

test('nodes share a directory, each at a path of its own, for an execution', { timeout: 60_000 }, async () => {
  const cluster = clusterOf(
    {
      nodes: { writer: { command: ['node', 'writer.js'] }, reader: { command: ['node', 'reader.js'] } },
      shared: { jobs: { writer: '/srv/jobs', reader: '/data/in:ro' } },
      clocks: { start: '2026-01-01' },
      faults: { crash: 1 },
    },
    { 'writer.js': writer, 'reader.js': reader },
    { rewind: true },
  )
  const printed = async () => {
    await cluster.reset()
    await take(cluster, 'writer timer +1000ms')
    await take(cluster, 'reader timer +3000ms')
    await take(cluster, 'crash writer')
    await take(cluster, 'restart writer')
    return [...stdoutOf(cluster, 'reader'), ...stdoutOf(cluster, 'writer')]
  }
  // The reader sees when its own clock showed what when the file was written.
  const expected = ['a job 2026-01-01T00:00:00.000Z', 'EROFS', 'has one']
  expect(await printed()).toEqual(expected)
  expect(await printed()).toEqual(expected)
  expect(await cluster.mark()).toBeUndefined()
  expect(cluster.notes()).toEqual([expect.stringContaining('writer, reader share a directory')])
})

const locker = `
import fcntl, sys, time
lock = open('/srv/jobs/lock', 'w')
first, held = float(sys.argv[1]), float(sys.argv[2])
time.sleep(first)
fcntl.flock(lock, fcntl.LOCK_EX)
print('has it', flush=True)
time.sleep(held)
print('gives it', flush=True)
fcntl.flock(lock, fcntl.LOCK_UN)
time.sleep(1000)
`

test('who waits for a lock of another node goes on in the step that gives it back', { timeout: 60_000 }, async () => {
  const cluster = clusterOf(
    {
      nodes: {
        one: { command: ['python3', 'locker.py', '1', '5'] },
        other: { command: ['python3', 'locker.py', '2', '7'] },
      },
      shared: { jobs: { one: '/srv/jobs', other: '/srv/jobs' } },
    },
    { 'locker.py': locker },
  )
  for (const _ of [1, 2]) {
    await cluster.reset()
    await take(cluster, 'one timer +1000ms')
    await take(cluster, 'other timer +2000ms')
    expect(labelsOf(cluster)).toEqual(['one timer +5000ms'])
    const before = cluster.fingerprint()
    await take(cluster, 'one timer +5000ms')
    expect(cluster.fingerprint()).not.toBe(before)
    expect(stdoutOf(cluster, 'other')).toEqual(['has it'])
    expect(labelsOf(cluster).sort()).toEqual(['one timer +1000000ms', 'other timer +7000ms'])
  }
})

const greeter = `
const net = require('net')
if (process.argv[2] === 'listen') net.createServer(socket => socket.end('hello')).listen('/run/shop/socket')
else setTimeout(() => net.connect('/run/shop/socket').on('data', data => console.log(String(data))), 1000)
setInterval(() => {}, 60_000)
`

test('a local socket in a shared directory joins two nodes within a step', { timeout: 60_000 }, async () => {
  const cluster = clusterOf(
    {
      nodes: {
        server: { command: ['node', 'greeter.js', 'listen'] },
        client: { command: ['node', 'greeter.js', 'connect'] },
      },
      shared: { run: { server: '/run/shop', client: '/run/shop' } },
    },
    { 'greeter.js': greeter },
  )
  await cluster.reset()
  await take(cluster, 'client timer +1000ms')
  expect(stdoutOf(cluster, 'client')).toEqual(['hello'])
})
