/** How long many nodes take to start and to end, over an INET of 5,000 routers: 100 of Node.js, 500 small ones. */
import { annotate, internet } from '../../topologies/annotate.ts'
import { generate } from '../../topologies/generate/generate.ts'
import { row, whole } from '../table.ts'
import { natively } from './natively.ts'

const topology = annotate(generate('inet', 5000, 1), internet, 1)
const server = "require('node:net').createServer(s => s.end()).listen(4000); console.log('up')"
const kinds = {
  'Node.js': { count: 100, command: ['node', '-e', server] },
  busybox: { count: 500, command: ['busybox', 'sh', '-c', 'echo up; exec busybox sleep 1000'] },
}

for (const [kind, { count, command }] of Object.entries(kinds)) {
  const nodes = Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index + 1}`, { command }]))
  const begun = performance.now()
  let up = 0
  await natively(nodes, topology, async ({ cluster, output }) => {
    row(`${count} nodes of ${kind}: networks made`, whole(performance.now() - begun), 'ms')
    for (const name of Object.keys(nodes)) await cluster.join(name)
    while (Object.keys(nodes).some(name => !output(name).includes('up'))) await new Promise(setImmediate)
    up = performance.now()
    row('  all up', whole(up - begun), 'ms')
    const still: number[] = []
    for (let look = 0; look < 5; look++) {
      const before = performance.now()
      await cluster.standStill(async () => undefined)
      still.push(performance.now() - before)
    }
    row('  stood still and went on', whole(Math.min(...still)), 'ms')
    up = performance.now()
  })
  row('  all gone', whole(performance.now() - up), 'ms')
}
