import { describe, expect, test } from 'vitest'
import { clusterOf } from '../system.ts'
import { hasCriu } from './criu.ts'
import { walkAlong } from './walks.ts'

const idle = 'setInterval(() => undefined, 1e9)'

/** Saved after each step of its schedule: what follows is the same from there. Gives what was saved of kernels alone. */
const expectSameFromEverywhere = async (server: string, client: string): Promise<number> => {
  const cluster = clusterOf({
    nodes: {
      server: { command: ['node', '-e', server], listens: 7000 },
      client: { command: ['node', '-e', `${client}; ${idle}`] },
    },
    overlap: 0,
  })
  await cluster.reset()
  const next = () => cluster.enabled().find(({ label }) => !label.startsWith('client timer'))?.label
  let orphans = 0
  for (let label = next(); label !== undefined; label = next()) {
    await walkAlong(cluster, [label])
    const checkpoint = await cluster.checkpoints.save()
    expect(checkpoint.lacking).toBe(undefined)
    for (const { life } of checkpoint.saved!.nodes) orphans += life!.orphans.length
    const rest = await walkAlong(cluster, [])
    for (let after = next(); after !== undefined; after = next()) await walkAlong(cluster, [after], rest)
    expect(await cluster.checkpoints.goBack(checkpoint)).toBe(undefined)
    expect(await walkAlong(cluster, rest.labels)).toEqual(rest)
    expect(await cluster.checkpoints.goBack(checkpoint)).toBe(undefined)
    await checkpoint.discard()
  }
  return orphans
}

describe.skipIf(!hasCriu())('connections go on from where they were saved (needs CRIU)', () => {
  test('asked for, open, and closed on one side after the other', async () => {
    const server = `
      require('net').createServer({ allowHalfOpen: true }, socket => {
        socket.on('data', data => console.log(String(data)))
        socket.on('end', () => setTimeout(() => { socket.write('late'); setTimeout(() => socket.end(), 500) }, 1000))
        socket.on('close', () => console.log('close'))
      }).listen(7000)`
    const client = `
      require('net').connect({ port: 7000, host: 'server', allowHalfOpen: true }, function () { this.end('hello') })
        .on('data', data => console.log(String(data))).on('end', () => console.log('end'))`
    expect(await expectSameFromEverywhere(server, client)).toBe(0)
  })

  test('closed by a process whose peer still speaks', async () => {
    const server = `
      require('net').createServer({ allowHalfOpen: true }, socket => {
        socket.on('error', error => console.log(error.code))
        socket.on('data', () => socket.write('late'))
        socket.on('end', () => { console.log('end'); socket.end() })
      }).listen(7000)`
    const client = `
      const socket = require('net').connect(7000, 'server', () => socket.write('hello', () => socket.destroy()))`
    expect(await expectSameFromEverywhere(server, client)).toBeGreaterThan(0)
  })
})
