/** Figures of a timed run are those of its steps, not of its looks. */
import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, lastnail } from '../lastnail.ts'

const config = `
import { always, defineSystem, jsonLines } from 'lastnail'
export default defineSystem({
  name: 'figures',
  nodes: { a: { command: ['node', 'a.js'] }, b: { command: ['node', 'b.js', '{{a.address}}'] } },
  state: jsonLines('stdout'),
  properties: { known: always(() => true) },
  emulation: {
    topology: { kind: 'star', nodes: 3 },
    churn: 'plan.txt',
    for: '10s',
    joined: node => node.state?.joined === true,
  },
})`
const a = `require('node:dgram').createSocket('udp4').bind(7000)
setTimeout(() => console.log('{"joined":true}'), 348)`
const b = `const socket = require('node:dgram').createSocket('udp4')
console.log('{"joined":false}')
setTimeout(() => console.log('{"joined":true}'), 2627)
setInterval(() => socket.send('x', 7000, process.argv[2]), 500)`

test('a node joins at the step that shows it, and datagrams of a cut are counted', async () => {
  const { directory, remove } = copyOfFixtures({
    ...{ 'figures.config.ts': config, 'a.js': a, 'b.js': b },
    'plan.txt': '4200ms partition a b\n7200ms heal\n',
  })
  onTestFinished(remove)
  const { code, stdout } = await lastnail(directory, 'emulate', 'figures.config.ts', '--json')
  expect(code).toBe(0)
  const { joins, packets } = JSON.parse(stdout)
  expect(joins).toMatchObject({ count: 2, p50: 348, p90: 2627 })
  // Of 4.5, 5, 5.5, 6, 6.5 and 7 s.
  expect(packets).toMatchObject({ cut: 6 })
})
