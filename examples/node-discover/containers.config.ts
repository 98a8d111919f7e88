import { defineSystem, type NodeDefinition } from 'lastnail'
import local from './lastnail.config.ts'

/** The same processes in containers, of an image that has Node.js. */
const image = process.env.NODE_IMAGE ?? 'node:22-slim'

const nodes = Object.entries(local.nodes as Record<string, NodeDefinition>)

export default defineSystem({
  ...local,
  nodes: Object.fromEntries(
    nodes.map(([name, node]) => [name, { ...node, image, cwd: '/srv', container: { volumes: ['.:/srv:ro'] } }]),
  ),
})
