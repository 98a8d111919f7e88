import { join } from 'node:path'
import { defineSystem, type SystemDefinition } from 'lastnail'

const count = Number(process.env.COUNT ?? 25)
const rate = Number(process.env.CHURN ?? 1)
const randtree = join(import.meta.dirname, '../../../examples/corpus/randtree')
const { default: corpus } = (await import(join(randtree, 'lastnail.config.ts'))) as { default: SystemDefinition }

const address = (name: string) => `{{${name}.address}}:7000`
const names = Array.from({ length: count }, (_, index) => `n${index + 1}`)
const bootstraps = names.slice(0, 2)

/** CrystalBall's experiment: RandTree with one of its bugs, over an internet, with nodes that join and leave: one of each a minute, unless CHURN says another rate. */
export default defineSystem({
  ...corpus,
  name: 'crystalball',
  nodes: Object.fromEntries(
    names.map(name => [
      name,
      {
        command: ['node', 'node.js', address(name), ...bootstraps.filter(peer => peer !== name).map(address)],
        cwd: randtree,
        env: { BUG: process.env.BUG ?? '', DEGREE: process.env.DEGREE ?? '2' },
      },
    ]),
  ),
  emulation: {
    topology: { kind: 'inet', nodes: 5000, meanRtt: 130 },
    churn: { kind: 'poisson', joinsPerMinute: rate, leavesPerMinute: rate, manners: ['kill'] },
    for: '10m',
    joined: ({ state }) => (state as { readonly state?: string } | undefined)?.state === 'joined',
  },
})
