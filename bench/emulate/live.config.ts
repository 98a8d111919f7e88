import { join } from 'node:path'
import { defineSystem, type SystemDefinition } from 'lastnail'
import { manners } from '../../topologies/churn/plan.ts'

const { SYSTEM = 'paxos', PREDICATES, CLIENTS, BUG = '', CHURN = '6', MANNER, RESETS, DEGREE } = process.env
const manner = manners.find(each => each === MANNER) ?? 'kill'
const rate = Number(CHURN)
const example = join(import.meta.dirname, '../../../examples/corpus', SYSTEM)
const { default: corpus } = (await import(join(example, 'lastnail.config.ts'))) as { default: SystemDefinition }

/** A system of the corpus over an internet, in which programs are killed and come back, or leave in another manner; with its properties, or without any. */
export default defineSystem({
  ...corpus,
  name: `${corpus.name}${BUG && `-${BUG}`}`,
  nodes: Object.fromEntries(
    Object.entries(corpus.nodes).map(([name, node]) => [
      name,
      { ...node, cwd: example, env: { BUG, ...(DEGREE && { DEGREE }) } },
    ]),
  ),
  faults: { ...corpus.faults, ...(RESETS && { reset: Number(RESETS) }) },
  clients: CLIENTS === 'none' ? {} : (corpus.clients ?? {}),
  properties: PREDICATES === 'none' ? {} : (corpus.properties ?? {}),
  emulation: {
    topology: { kind: 'inet', nodes: 5000, meanRtt: 130 },
    ...(rate > 0 && {
      churn: { kind: 'poisson', joinsPerMinute: rate, leavesPerMinute: rate, manners: [manner] },
    }),
    for: '10m',
  },
})
