import { defineSystem, type NodeDefinition } from 'lastnail'
import local from './lastnail.config.ts'

const nodes = Object.entries(local.nodes as Record<string, NodeDefinition>)

/** The same processes, none of them as heavy as another one. */
export default defineSystem({
  ...local,
  name: 'node-discover-weights',
  nodes: Object.fromEntries(
    nodes.map(([name, node], index) => [name, { ...node, env: { WEIGHT: String(index + 1) } }]),
  ),
})
