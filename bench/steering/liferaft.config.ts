import { join } from 'node:path'
import { defineSystem, type SystemDefinition } from 'lastnail'
import { exampleDirectory } from './example-directory.ts'

const cwd = exampleDirectory('liferaft')
const { default: example, nodesOf } = (await import(join(cwd, 'lastnail.config.ts'))) as {
  default: SystemDefinition
  nodesOf(names: readonly string[], ...program: readonly string[]): SystemDefinition['nodes']
}

/** liferaft over datagrams and an internet: a vote that is on its way reaches a node that was started again meanwhile. */
export default defineSystem({
  ...example,
  name: 'liferaft-steered',
  nodes: Object.fromEntries(
    Object.entries(nodesOf(['n1', 'n2', 'n3'], 'node', 'datagrams.js')).map(([name, node]) => [name, { ...node, cwd }]),
  ),
  faults: { crash: 1 },
  overlap: 0,
  emulation: { topology: { kind: 'inet', nodes: 500, meanRtt: 130 }, for: '12s' },
})
