import { expect, test } from 'vitest'
import { clusterOf, labelsOf, stdoutOf, take } from '../system.ts'

/** Writes a word at each tick, syncs it, and only then writes the next one and tells the peer. */
const writer = `
const fs = require('fs')
const say = () => console.log('log', fs.existsSync('/var/tmp/log') ? String(fs.readFileSync('/var/tmp/log')) : 'none')
say()
const udp = require('dgram').createSocket('udp4')
udp.bind(7000, () => setInterval(() => {
  const fd = fs.openSync('/var/tmp/log', 'a')
  fs.writeSync(fd, 'one ')
  fs.fsyncSync(fd)
  fs.writeSync(fd, 'two ')
  fs.fsyncSync(fd)
  fs.closeSync(fd)
  udp.send('done', 7000, process.argv[2])
}, 1000))
`

const power = (before: number, leaves: string) => `power n before sync or message ${before} keeps ${leaves}`

test('the power fails in the middle of a step, before a sync or a message', { timeout: 60_000 }, async () => {
  const cluster = clusterOf(
    {
      nodes: {
        n: { command: ['node', 'writer.js', '{{peer.address}}'] },
        peer: { command: ['sleep', 'infinity'] },
      },
      faults: { power: 2 },
      overlap: 0,
    },
    { 'writer.js': writer },
  )
  const left = async (before: number, leaves: string) => {
    await cluster.reset()
    await take(cluster, power(before, leaves))
    await take(cluster, 'n timer +1000ms')
    const sent = labelsOf(cluster).filter(label => label.startsWith('n→peer'))
    expect(labelsOf(cluster)).toContain('restart n')
    await take(cluster, 'restart n')
    const found = stdoutOf(cluster, 'n')[0]
    // The next life has its power.
    await take(cluster, 'n timer +1000ms')
    return [found, ...sent]
  }
  expect(await left(1, 'all')).toEqual(['log one'])
  expect(await left(1, 'none')).toEqual(['log none'])
  expect(await left(2, 'none')).toEqual(['log one'])
  expect(await left(2, 'all')).toEqual(['log one two'])
  expect(await left(3, 'none')).toEqual(['log one two'])
  // A failure that has not come yet is part of the state.
  await cluster.reset()
  await take(cluster, power(3, 'all'))
  const mark = await cluster.mark()
  const step = async () => {
    await take(cluster, 'n timer +1000ms')
    return labelsOf(cluster)
  }
  const first = await step()
  expect(first).toContain('restart n')
  await cluster.restore(mark!)
  expect(await step()).toEqual(first)
})

/** Answers each request with what it has synced. */
const store = `
const fs = require('fs')
const fd = fs.openSync('/var/tmp/log', 'a+')
require('http').createServer((request, response) => {
  if (request.method === 'PUT') {
    fs.writeSync(fd, 'x')
    fs.fsyncSync(fd)
  }
  response.end(String(fs.readFileSync('/var/tmp/log')))
}).listen(8000)
`

test('an answer to the observer is no message before which the power fails', { timeout: 60_000 }, async () => {
  const cluster = clusterOf(
    {
      nodes: { store: { command: ['node', 'store.js'], listens: 8000 } },
      state: async node => (await node.http(8000, '/')).body.text(),
      clients: {
        ann: { run: async ({ store }) => (await store!.http(8000, '/', { method: 'PUT' })).body.text(), times: 2 },
      },
      faults: { power: 1 },
    },
    { 'store.js': store },
  )
  await cluster.reset()
  await take(cluster, 'power store before sync or message 3 keeps all')
  // A sync and an answer. Then the observer is answered.
  await take(cluster, 'client ann')
  expect(cluster.state().node('store').state).toBe('x')
  // The third is a sync, of which nothing is left to be done.
  await take(cluster, 'client ann')
  expect(labelsOf(cluster)).toContain('restart store')
  await take(cluster, 'restart store')
  expect(cluster.state().node('store').state).toBe('xx')
})

/** At its start it mends what it finds, in two steps. */
const mending = `
const fs = require('fs')
const at = '/var/tmp/log'
const before = fs.existsSync(at) ? String(fs.readFileSync(at)) : ''
console.log('found', before || 'nothing')
const fd = fs.openSync(at, 'a')
for (const part of ['a', 'b']) {
  fs.writeSync(fd, part)
  fs.fsyncSync(fd)
}
console.log('ready')
setInterval(() => {}, 1000)
`

test('the power fails in a start, and the next life finds what that has left', { timeout: 60_000 }, async () => {
  const cluster = clusterOf(
    { nodes: { n: { command: ['node', 'mending.js'] } }, faults: { power: 2 } },
    { 'mending.js': mending },
  )
  const left = async (label: string) => {
    await cluster.reset()
    await take(cluster, 'power n')
    await take(cluster, label)
    return [labelsOf(cluster).includes('restart n'), cluster.state().node('n').alive]
  }
  const found = async () => {
    await take(cluster, 'restart n')
    return stdoutOf(cluster, 'n')
  }
  for (const _ of [1, 2]) {
    expect(await left('power n in its start before sync or message 1 keeps none')).toEqual([true, false])
    expect(await found()).toEqual(['found ab', 'ready'])
    expect(await left('power n in its start before sync or message 2 keeps none')).toEqual([true, false])
    expect(await found()).toEqual(['found aba', 'ready'])
    expect(await left('power n in its start before sync or message 2 keeps all')).toEqual([true, false])
    expect(await found()).toEqual(['found abab', 'ready'])
  }
  // There is no third sync, so this one starts.
  expect(await left('power n in its start before sync or message 3 keeps none')).toEqual([false, true])
  expect(stdoutOf(cluster, 'n')).toEqual(['found ab', 'ready'])
})
