import { join } from 'node:path'
import { always, defineSystem, type GlobalState, type SystemDefinition } from 'lastnail'
import { exampleDirectory } from './example-directory.ts'

const cwd = exampleDirectory('node-discover')
const { default: example } = (await import(join(cwd, 'lastnail.config.ts'))) as { default: SystemDefinition }

interface Process {
  readonly isMaster: boolean
  readonly sees: readonly string[]
}

/** A master that knows of another one would have to give way. */
const mastersAreAlone = ({ nodes }: GlobalState<Process>): boolean => {
  const masters = nodes.flatMap(({ name, state }) => (state?.isMaster ? [{ name, sees: state.sees }] : []))
  return masters.every(({ name, sees }) => !masters.some(other => other.name !== name && sees.includes(other.name)))
}

/** node-discover, of which two parts of the network have chosen a master each before they meet. */
export default defineSystem({
  ...example,
  name: 'node-discover-steered',
  nodes: Object.fromEntries(Object.entries(example.nodes).map(([name, node]) => [name, { ...node, cwd }])),
  properties: { mastersAreAlone: always(mastersAreAlone) },
  emulation: { topology: { kind: 'inet', nodes: 500, meanRtt: 130 }, for: '30s' },
})
