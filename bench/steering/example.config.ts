import { join } from 'node:path'
import { defineSystem, type SystemDefinition } from 'lastnail'
import { packageRoot } from '../corpus/package-root.ts'

const directory = join(packageRoot, 'examples', process.env.EXAMPLE ?? 'sentinel')
const { default: example } = (await import(join(directory, 'lastnail.config.ts'))) as { default: SystemDefinition }

/** A service of the examples, over an internet. Its writers write twice a second. */
export default defineSystem({
  ...example,
  nodes: Object.fromEntries(Object.entries(example.nodes).map(([name, node]) => [name, { ...node, cwd: directory }])),
  emulation: { topology: { kind: 'inet', nodes: 500, meanRtt: 130 }, clients: { write: '500ms' }, for: '12s' },
})
