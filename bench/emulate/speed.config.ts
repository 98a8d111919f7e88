import { join } from 'node:path'
import { defineSystem, jsonLines } from 'lastnail'

const count = Number(process.env.COUNT)
const randtree = join(import.meta.dirname, '../../../examples/corpus/randtree')
const address = (name: string) => `{{${name}.address}}:7000`
const names = Array.from({ length: count }, (_, index) => `n${index + 1}`)

/** As many nodes of a random tree as the bench says, over an internet. One leaves and one joins each minute. */
export default defineSystem({
  name: 'speed',
  nodes: Object.fromEntries(
    names.map(name => [
      name,
      {
        command: [
          'node',
          'node.js',
          address(name),
          ...names
            .slice(0, 2)
            .filter(peer => peer !== name)
            .map(address),
        ],
        cwd: randtree,
      },
    ]),
  ),
  state: jsonLines('stdout'),
  emulation: {
    topology: { kind: 'inet', nodes: 5000, meanRtt: 130 },
    churn: { kind: 'poisson', joinsPerMinute: 1, leavesPerMinute: 1, manners: ['kill'] },
    for: '1m',
  },
})
