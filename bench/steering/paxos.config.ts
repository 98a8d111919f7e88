import { join } from 'node:path'
import { defineSystem, type SystemDefinition } from 'lastnail'
import { packageRoot } from '../corpus/package-root.ts'

const { default: corpus } = (await import(join(packageRoot, 'examples/corpus/paxos/lastnail.config.ts'))) as {
  default: SystemDefinition
}

const { BUG = '', SECOND_ROUND_MS = '5000' } = process.env
/** The second bug takes a restart of the member that leads the second round, which counts from then. */
const isOfRestart = BUG === 'paxos-forget-promise'
const addresses = ['n1', 'n2', 'n3'].map(name => `{{${name}.address}}:7000`)
const member = (index: number, value: string, afterMs: string, env: Record<string, string> = {}) => ({
  command: [
    'node',
    '--no-memory-reducer',
    join(import.meta.dirname, 'paxos-node.js'),
    addresses[index]!,
    value,
    afterMs,
    ...addresses,
  ],
  env: { BUG, ...env },
})

/**
 * CrystalBall's scripted run of Paxos (section 5.4.2). n1 leads a round while n3 is cut off, and n2 does not hear what was chosen. Then n1 is cut
 * off and n3 is back (for the second bug, n2 starts again too), and some time later n2 leads a round.
 */
export default defineSystem({
  ...corpus,
  name: 'paxos-script',
  nodes: {
    n1: member(0, 'red', '1000', { DEAF: addresses[1]! }),
    n2: member(1, 'green', SECOND_ROUND_MS, isOfRestart ? { SECOND: '1' } : {}),
    n3: member(2, 'blue', '-'),
  },
  emulation: { topology: { kind: 'inet', nodes: 500, meanRtt: 130 }, for: '30s' },
})
