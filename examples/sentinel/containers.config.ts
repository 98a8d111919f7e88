import { defineSystem, type NodeDefinition } from 'lastnail'
import local from './lastnail.config.ts'

/** The same servers in containers, of an image that has redis. */
const image = process.env.REDIS_IMAGE ?? 'redis:7'

const nodes = Object.entries(local.nodes as Record<string, NodeDefinition>)

export default defineSystem({
  ...local,
  nodes: Object.fromEntries(
    nodes.map(([name, node]) => [name, { ...node, image, cwd: '/srv', container: { volumes: ['.:/srv'] } }]),
  ),
})
