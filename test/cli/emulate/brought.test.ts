/** Graphs as others have them, and small: each by the command, with the way that packets take in them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, here as lastnail } from '../lastnail.ts'

/** Each asks its peer, and says after how many milliseconds the answer came. */
const ask = `
const socket = require('node:dgram').createSocket('udp4')
const [peer] = process.argv.slice(2)
socket.bind(7000, () => {
  const begun = performance.now()
  if (peer) socket.send('x', 7000, peer)
  socket.on('message', (_, { address, port }) => {
    if (peer) console.log((performance.now() - begun).toFixed(1))
    else socket.send('x', port, address)
  })
})`

const configOf = (asking: readonly string[]) => `
import { defineSystem } from 'lastnail'
const nodes = { a: { command: ['node', 'ask.cjs'] } }
for (const name of ${JSON.stringify(asking)}) nodes[name] = { command: ['node', 'ask.cjs', '{{a.address}}'] }
export default defineSystem({ name: 'brought', nodes, emulation: { topology: 'graph.gml', for: '2s' } })`

/** After how many milliseconds each was answered. */
const roundTrips = async (graph: string, asking: readonly string[]): Promise<number[]> => {
  const { directory, remove } = copyOfFixtures({
    'brought.config.ts': configOf(asking),
    'ask.cjs': ask,
    'graph.gml': graph,
  })
  onTestFinished(remove)
  const { code, stdout } = await lastnail(directory, 'emulate', 'brought.config.ts', '--json')
  expect({ code, stdout }).toMatchObject({ code: 0 })
  const printed = (name: string) =>
    Number(readFileSync(join(directory, '.lastnail/brought/latest/output', `${name}.stdout`), 'utf8'))
  return asking.map(printed)
}

test('on Shadow’s switch are any number of hosts, and its edge to itself is the way between two', async () => {
  const graph = `graph [
    node [ id 0 host_bandwidth_up "1 Gbit" host_bandwidth_down "1 Gbit" ]
    edge [ source 0 target 0 latency "10 ms" ]
  ]`
  for (const ms of await roundTrips(graph, ['b', 'c', 'd'])) expect(ms).toBeCloseTo(20, 0)
})

test('five nodes are placed on a graph of two stubs and a transit', async () => {
  const graph = `graph [
    node [ id 0 role "stub" ] node [ id 1 role "transit" ] node [ id 2 role "stub" ]
    edge [ source 0 target 1 latency "10 ms" LinkSpeedRaw 0 ]
    edge [ source 1 target 2 latency "10 ms" LinkSpeedRaw 0 ]
  ]`
  const all = await roundTrips(graph, ['b', 'c', 'd', 'e'])
  // Three are at places of their own, and two at places that have one already.
  for (const ms of all) expect([0, 20, 40]).toContain(Math.round(ms))
  expect(new Set(all.map(ms => Math.round(ms))).size).toBeGreaterThan(1)
})
